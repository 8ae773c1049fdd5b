"""Programs that translate: one file each, all behind `lasw.tuning.decoders.base.Decoder`."""
