import pytest

from syntax_bert import SyntaxBertConfig, SyntaxMBertConfig
from syntax_bert.arguments import SystemArguments
from syntax_bert.systems import choose_config, choose_systems, describe_system, system_name

EVERYTHING = {
    "syntax_features": ["deprel", "upos"],
    "structure_loss_weight": 0.5,
    "score_answer_sentences": True,
    "distance_scaling": "dependency",
    "scaling_sparsing": "random",
    "syntax_dropout": 0.1,
}


def test_the_baseline_reads_no_syntax_whatever_the_other_system_does():
    systems = choose_systems(SyntaxMBertConfig(**EVERYTHING), compare_baseline=True)
    assert list(systems) == ["plain", "gat+structure+dependency+random+sentences+upos+deprel"]
    plain, other = systems.values()
    assert (plain.syntax_columns, plain.model_type, type(plain)) == ((), "syntax-bert", SyntaxBertConfig)
    assert len(other.syntax_columns) == 4
    assert describe_system(plain) == describe_system(SyntaxBertConfig(syntax_features=[]))


def test_what_has_no_effect_is_not_described():
    described = describe_system(SyntaxBertConfig(syntax_features=["casing", "upos"], graph_attention_heads=2))
    assert described["syntax_features"] == ["upos", "casing"]
    assert "syntax_dropout" in described
    assert not {"graph_attention_heads", "scaling_sigma"} & described.keys()
    assert "graph_attention_heads" in describe_system(SyntaxMBertConfig())
    assert "scaling_sigma" in describe_system(SyntaxBertConfig(distance_scaling="parent"))


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"syntax_features": []}, "plain"),
        ({"syntax_features": ["casing", "upos"]}, "upos+casing"),
        ({"distance_scaling": "additive"}, "additive+upos"),
    ],
)
def test_names(options, name):
    assert system_name(SyntaxBertConfig(**options)) == name


def test_nothing_is_compared_with_itself():
    for config, name in ((SyntaxBertConfig(syntax_features=[]), None), (SyntaxBertConfig(), "plain")):
        with pytest.raises(ValueError, match="nothing to compare the plain model with"):
            choose_systems(config, compare_baseline=True, name=name)


def test_a_plain_checkpoint_of_the_family_has_no_graph_attention(tmp_path, plain_checkpoint):
    SyntaxMBertConfig(graph_attention_layers=0, score_answer_sentences=False).save_pretrained(tmp_path)
    with pytest.raises(ValueError, match="has no graph attention: set --graph_attention_layers"):
        choose_config(SystemArguments(model_name_or_path=str(tmp_path)), {})
    none = SystemArguments(model_name_or_path=plain_checkpoint, mechanism="none", syntax_features=["none"])
    assert choose_config(none, {}).syntax_columns == ()
