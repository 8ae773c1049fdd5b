"""What the WMT metrics tasks reported, year by year: statistics, the test of differences; references, outliers."""

from __future__ import annotations

# Callison-Burch et al. 2012; Macháček and Bojar 2013, 2014; Stanojević et al. 2015; Bojar et al. 2016, 2017;
# Ma et al. 2018, 2019; Mathur et al. 2020; Freitag et al. 2021, 2022, 2023, 2024. In 2021 tau is of experts' marks of
# errors (MQM), darr of direct assessment; in 2022 systems had tau as well, segments each of the three averages.
OFFICIAL = {
    2012: (("tau12", "spearman"), "bootstrap"),
    2013: (("tau13", "spearman", "pearson"), "bootstrap"),
    2014: (("tau14", "pearson"), "bootstrap"),
    2015: (("tau14", "pearson"), "bootstrap"),
    2016: (("pearson",), "williams"),
    2017: (("pearson",), "williams"),
    2018: (("darr", "pearson"), "williams"),
    2019: (("darr", "pearson"), "williams"),
    2020: (("darr", "pearson", "pearson-robust"), "williams"),
    2021: (("tau-b", "darr", "pearson", "pairwise-accuracy"), "perm-both"),
    2022: (("tau-b", "pearson", "pairwise-accuracy"), "perm-both"),
    2023: (("acc-eq", "pearson", "pairwise-accuracy"), "perm-both"),
    2024: (("acc-eq", "spa"), "perm-both"),
    2025: (("acc-eq", "spa"), "perm-both"),
}

# Of the metrics tasks' own evaluation (mt-metrics-eval's tables), where it is not `refA` or `ref`, the only other one.
REFERENCES = {
    "wmt21.news": {"en-de": "refC", "zh-en": "refB"},
    "wmt21.tedtalks": {"zh-en": "refB"},
    "wmt22": {"cs-en": "refB", "en-cs": "refB"},
    "wmt23": {"he-en": "refB", "en-he": "refB"},
    "wmt24": {"en-de": "refB"},
}

# Systems so far from all others that the tasks left them out.
OUTLIERS: dict[str, dict[str, tuple[str, ...]]] = {
    "wmt20": {
        "cs-en": ("CUNI-DocTransformer.1457", "zlabs-nlp.1149"),
        "de-en": ("WMTBiomedBaseline.387", "yolo.1052", "zlabs-nlp.1153"),
        "en-cs": ("Online-G.1555", "zlabs-nlp.1151"),
        "en-de": ("Online-G.1556", "WMTBiomedBaseline.388", "zlabs-nlp.179"),
        "en-iu": ("OPPO.722", "UEDIN.1281", "UQAM_TanLe.521"),
        "en-ja": ("Online-G.1557", "SJTU-NICT.370"),
        "en-pl": ("Online-A.1576", "Online-Z.1634", "zlabs-nlp.180"),
        "en-ta": ("Online-G.1561", "SJTU-NICT.386", "TALP_UPC.1049"),
        "iu-en": ("Facebook_AI.729", "NiuTrans.1206"),
        "ja-en": ("Online-G.1564", "Online-Z.1640", "zlabs-nlp.66"),
        "pl-en": ("zlabs-nlp.1162",),
        "ru-en": ("zlabs-nlp.1164",),
        "ta-en": ("Online-G.1568", "TALP_UPC.192"),
        "zh-en": ("WMTBiomedBaseline.183",),
    },
    "wmt22": {"en-de": ("M2M100_1.2B-B4",)},
    "wmt23": {"en-de": ("synthetic_ref",), "zh-en": ("synthetic_ref",)},
    "wmt24": {"en-de": ("MSLC",), "en-es": ("MSLC",), "ja-zh": ("MSLC",)},
}


def official_reference(name: str, pair: str) -> str:
    """The reference that the task of test set `name` had, if it is not the customary one; else empty."""
    return REFERENCES.get(name, {}).get(pair, "")


def official_outliers(name: str, pair: str) -> tuple[str, ...]:
    """The systems that the task of test set `name` left out."""
    return OUTLIERS.get(name, {}).get(pair, ())
