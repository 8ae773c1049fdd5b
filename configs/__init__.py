"""Run configurations in TOML, one per published setting, shipped as package data."""
