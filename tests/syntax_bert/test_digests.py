from datasets import Dataset

from syntax_bert.digests import dataset_digest, short_digest


def test_digests_are_those_that_results_were_recorded_with(tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"abc")
    assert short_digest(path) == short_digest(str(path)) == "ba7816bf8f01cfea"  # the standard's example
    rows = [{"text": "ä", "label": 1}, {"text": "b", "label": 0}]
    assert dataset_digest(Dataset.from_list(rows)) == dataset_digest(rows) == "791ff6c6d53b4121"
    assert dataset_digest(rows[::-1]) != dataset_digest(rows)
    assert dataset_digest(None) is None
