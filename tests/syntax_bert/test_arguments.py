import json

import pytest
from transformers import TrainingArguments

from syntax_bert.arguments import ComparisonArguments, SystemArguments, parse_arguments

DEFAULTS = {"model_name_or_path": "x", "output_dir": "out", "use_cpu": True, "report_to": "none"}


def parse(write, **values):
    file = write("arguments.json", json.dumps({**DEFAULTS, **values}))
    return parse_arguments(SystemArguments, ComparisonArguments, TrainingArguments, arguments=[file])


def test_a_file_of_arguments(write):
    system, comparison, training = parse(
        write, parsers=["en", "de=x"], seeds=[1, 2], syntax_dropout=0, learning_rate=2e-5, compare_baseline=True
    )
    assert (system.parsers, system.syntax_dropout, system.mechanism) == (["en", "de=x"], 0, "gat")
    assert (comparison.seeds, comparison.compare_baseline, training.learning_rate) == ([1, 2], True, 2e-5)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"seeds": "1 2"}, r"seeds must be list\[int\].*, got '1 2'"),
        ({"seeds": ["1"]}, r"seeds must be list\[int\].*, got \['1'\]"),
        ({"seeds": 3}, r"seeds must be list\[int\].*, got 3"),
        ({"compare_baseline": "false"}, "compare_baseline must be bool, got 'false'"),
        ({"parse_workers": "2"}, "parse_workers must be int, got '2'"),
        ({"parse_workers": True}, "parse_workers must be int, got True"),
        ({"learning_rate": "2e-5"}, "learning_rate must be float, got '2e-5'"),
        ({"parsers": "en"}, r"parsers must be list\[str\].*, got 'en'"),
    ],
)
def test_values_of_another_type_are_refused(write, values, message):
    with pytest.raises(ValueError, match=message):
        parse(write, **values)


def test_yaml_reads_some_numbers_as_texts(write):
    file = write("arguments.yaml", "model_name_or_path: x\noutput_dir: out\nuse_cpu: true\nlearning_rate: 2e-5\n")
    with pytest.raises(ValueError, match="learning_rate must be float, got '2e-5'"):
        parse_arguments(SystemArguments, TrainingArguments, arguments=[file])
