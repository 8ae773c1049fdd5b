"""Layouts of N-best lists, one file each; `lasw.tuning.formats.nbest.layout` says what one is and lists them.

>>> from lasw.tuning import NBEST_LAYOUTS
>>> lines = {"moses": "0 ||| a house ||| LM0= -1 ||| -1", "jsonl": '{"id": 0, "hypotheses": []}'}
>>> [name for name, line in lines.items() if NBEST_LAYOUTS.find(name).detects(line)]
['moses', 'jsonl']
"""
