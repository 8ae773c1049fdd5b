"""What the WMT metrics tasks reported, year by year: statistics, and the test of differences."""

from __future__ import annotations

# Callison-Burch et al. 2012; Macháček and Bojar 2013, 2014; Stanojević et al. 2015; Bojar et al. 2016, 2017;
# Ma et al. 2018, 2019; Mathur et al. 2020; Freitag et al. 2021, 2022, 2023, 2024.
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
    2021: (("darr", "pearson", "pairwise-accuracy"), "perm-both"),
    2022: (("tau-b", "pearson", "pairwise-accuracy"), "perm-both"),
    2023: (("acc-eq", "pearson", "pairwise-accuracy"), "perm-both"),
    2024: (("acc-eq", "spa"), "perm-both"),
    2025: (("acc-eq", "spa"), "perm-both"),
}
