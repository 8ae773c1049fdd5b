"""The names that old Moses gave its weights, and which feature functions of today they stand for.

An old group holds the weights of several feature functions one after the other: ``d`` those of the distance and of
all lexical reordering models, ``lm`` those of all language models.
Sections without a successor today only match lists that print the old label.
"""

from __future__ import annotations

import re

from lasw.metrics import UserError
from lasw.tuning.weights import FeatureNames, Weights

# label in the N-best list -> (section of the moses.ini, beginnings of the names of today, in their order)
_OLD: dict[str, tuple[str, tuple[str, ...]]] = {
    "d": ("weight-d", ("Distortion", "LexicalReordering")),
    "lm": ("weight-l", ("LM",)),
    "tm": ("weight-t", ("TranslationModel", "PhraseDictionary")),
    "w": ("weight-w", ("WordPenalty",)),
    "g": ("weight-generation", ("GenerationModel",)),
    "I": ("weight-i", ("InputFeature",)),
    "lex": ("weight-lex", ("GlobalLexicalModel",)),
    "dlm": ("weight-dlm", ()),
    "pp": ("weight-pp", ()),
    "wt": ("weight-wt", ()),
    "pb": ("weight-pb", ()),
    "glm": ("weight-glm", ()),
}
OLD_SECTIONS = {section: label for label, (section, _) in _OLD.items()}
OLD_LABELS = {label: section for label, (section, _) in _OLD.items()}


def is_old(names: FeatureNames) -> bool:
    """Whether all groups carry old labels."""
    return len(names) > 0 and all(name in _OLD for name, _ in names.groups)


def members(label: str, names: FeatureNames) -> list[str]:
    """The groups of `names` that the old group `label` stands for, in the order of its weights."""
    if label in names.slices:
        return [label]
    found: list[str] = []
    for beginning in _OLD[label][1]:
        numbered = [name for name, _ in names.groups if re.fullmatch(beginning + r"\d*", name)]
        found.extend(sorted(numbered, key=lambda name: int(name[len(beginning) :] or 0)))
    return found


def old_values(weights: Weights) -> dict[str, list[float]]:
    """The dense weights by old label.

    Raises:
        UserError: a feature function that no old label stands for.
    """
    groups = weights.by_group()
    values: dict[str, list[float]] = {}
    placed: set[str] = set()
    for label in _OLD:
        found = members(label, weights.names)
        placed.update(found)
        if found:
            values[label] = [value for name in found for value in groups[name]]
    homeless = next((name for name in groups if name not in placed), None)
    if homeless is not None:
        raise UserError(f"{homeless} has no place in a moses.ini of the old style", remedy="write the weights as JSON")
    return values
