import json

import pytest
import torch
from huggingface_hub.errors import StrictDataclassError
from safetensors.torch import load_file
from transformers import AutoModelForSeq2SeqLM, GenerationConfig

from syntax_bert import SyntaxMarianMT, SyntaxMarianTokenizer

WORDS = {
    "cat": "Katze",
    "dog": "Hund",
    "river": "Fluss",
    "sees": "sieht",
    "sleeps": "schläft",
    "The": "Die",
    "A": "Eine",
}
SOURCES = [f"{article} {noun} {verb}." for article in ("The", "A") for noun in ("cat", "dog", "river")
           for verb in ("sleeps", "sees")]  # fmt: skip
TARGETS = [" ".join(WORDS[word] for word in source.rstrip(".").split()) + "." for source in SOURCES]
SIZES = ",".join(
    [*(f"{part}_{what}=2" for part in ("encoder", "decoder") for what in ("layers", "attention_heads")), "d_model=32",
     "encoder_ffn_dim=64", "decoder_ffn_dim=64", "dropout=0.0", "max_position_embeddings=64"]
)  # fmt: skip
DEFAULTS = {"learning_rate": 1e-2, "max_steps": 1, "save_strategy": "no", "use_cpu": True, "disable_tqdm": True,
            "per_device_train_batch_size": 12, "max_length": 24}  # fmt: skip
pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture(scope="module")
def main(load_script):
    return load_script("run_translation_syntax").main


@pytest.fixture
def run(main, as_arguments, write, tmp_path):
    """Runs the script in this process, from scratch unless a checkpoint is named."""

    def run_script(output="out", **settings):
        files = [write("text.en", "\n".join(SOURCES)), write("text.de", "\n".join(TARGETS))]
        data = {f"{split}_file": files for split in ("train", "validation", "test")}
        scratch = {} if "model_name_or_path" in settings else {"train_tokenizer": 33, "config_overrides": SIZES}
        return main(as_arguments({"output_dir": tmp_path / output, **data, **scratch, **DEFAULTS, **settings}))

    return run_script


def test_a_toy_is_learnt_from_scratch_and_translates_after_reload(run, tmp_path, run_without_package):
    options = {"syntax_features": ["upos", "casing"], "feature_combination": "concat", "feature_size": 4}
    options |= {
        "distance_scaling": "dependency",
        "learning_rate": 5e-3,
        "lr_scheduler_type": "inverse_sqrt",
        "warmup_steps": 20,
    }
    scores = run(max_steps=250, tokens_per_batch=200, save_strategy="epoch", save_total_limit=1, **options)
    assert list(scores) == ["upos+casing-concat-dependency"]
    assert scores["upos+casing-concat-dependency"][42] > 90
    assert (tmp_path / "out" / "test.txt").read_text().splitlines().count(TARGETS[0]) == 1
    detail = json.loads((tmp_path / "out" / "translations.json").read_text())
    assert detail["samples"][0]["source"] == SOURCES[0]
    assert detail["by_length"][0]["sentences"] == len(SOURCES)
    assert "tok:13a" in detail["bleu_signature"]
    code = (
        "from transformers import pipeline\n"
        "translate = pipeline('translation', model=sys.argv[1], trust_remote_code=True)\n"
        "print(translate(sys.argv[2], max_new_tokens=20)[0]['translation_text'])"
    )
    assert run_without_package(code, str(tmp_path / "out"), SOURCES[1])[-1] == TARGETS[1]


@pytest.mark.parametrize("options", [{"save_strategy": "epoch"}, {"save_strategy": "steps", "save_steps": 3}], ids=str)
def test_interrupted_training_ends_with_the_same_weights(run, interrupted, tmp_path, options):
    settings = {"max_steps": 5, "tokens_per_batch": 60, "distance_scaling": "dependency", **options}
    run("whole", **settings)
    with interrupted():
        run("broken", **settings)
    run("broken", **settings)
    whole, resumed = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "broken"))
    for name, weights in whole.items():
        torch.testing.assert_close(resumed[name], weights, rtol=0, atol=1e-6)


def test_two_processes(launch, as_arguments, write, tmp_path):
    files = [write("text.en", "\n".join(SOURCES)), write("text.de", "\n".join(TARGETS))]
    data = {f"{split}_file": files for split in ("train", "validation", "test")}
    settings = {"output_dir": tmp_path / "out", "train_tokenizer": 33, "config_overrides": SIZES, **data, **DEFAULTS}
    settings |= {"tokens_per_batch": 60, "max_steps": 3, "compare_baseline": True}
    printed = launch("run_translation_syntax", as_arguments(settings), tmp_path)
    assert printed.count("| system | seeds |") == 1
    assert len((tmp_path / "out" / "plain" / "seed-42" / "test.txt").read_text().splitlines()) == len(SOURCES)


def test_comparison_with_plain_marian(run, tmp_path, capsys):
    settings = {"compare_baseline": True, "seeds": [1, 2], "distance_scaling": "additive", "syntax_features": ["none"]}
    scores = run(**settings)
    assert {name: list(by_seed) for name, by_seed in scores.items()} == {"plain": [1, 2], "additive": [1, 2]}
    rows = json.loads((tmp_path / "out" / "bootstrap.json").read_text())
    assert [(row["seed"], row["system"]) for row in rows] == [(s, name) for s in (1, 2) for name in scores]
    printed = capsys.readouterr().out
    assert "| plain | 2 |" in printed
    assert "bleu_p" in printed
    assert run(**settings) == scores
    result = json.loads((tmp_path / "out" / "results" / "translation-plain-0.01-seed1.json").read_text())
    assert (result["distance_scaling"], result["d_model"], "parser" in result) == ("none", 32, False)
    overrides = {"config_overrides": f"{SIZES},activation_function=gelu"}
    for changed in ({"num_scaled_heads": 1}, {"generation_max_length": 5}, overrides):
        with pytest.raises(ValueError, match="run with other settings"):
            run(**{**settings, **changed})


def test_validation_and_test_scores_are_of_the_same_references(run, tmp_path):
    """The labels are cut, and the rows are sorted by length in training."""
    run(max_steps=30, max_length=6, train_sampling_strategy="group_by_length")
    result = json.loads(next((tmp_path / "out" / "results").glob("*.json")).read_text())["metrics"]
    assert 0 < result["eval_chrf"] == result["test_chrf"]


def test_translations_of_other_settings_are_not_compared(run, tmp_path, only_warnings, caplog):
    options = {"distance_scaling": "dependency", "compare_baseline": True, "max_steps": 5}
    run(**options)
    first = (tmp_path / "out" / "bootstrap.json").read_text()
    run(**options, learning_rate=5e-2)
    assert (tmp_path / "out" / "bootstrap.json").read_text() != first
    (tmp_path / "out" / "bootstrap.json").unlink()
    run(**options)  # the scores of the first run, whose translations are gone
    assert "no bootstrap, the translations that were measured are not all there" in caplog.text
    assert not (tmp_path / "out" / "bootstrap.json").exists()


def test_generation_options_of_a_file_identify_a_run_and_stay(run, tmp_path):
    GenerationConfig(num_beams=2, max_length=7, decoder_start_token_id=0, pad_token_id=0).save_pretrained(
        tmp_path / "gen"
    )
    options = {"save_strategy": "epoch", "save_total_limit": 1}
    run(**options)
    with pytest.raises(ValueError, match="is a run with other settings .*generation_config"):
        run(**options, generation_config=tmp_path / "gen")
    run("other", **options, generation_config=tmp_path / "gen")
    kept = SyntaxMarianMT.from_pretrained(tmp_path / "other").generation_config
    assert (kept.num_beams, kept.max_length) == (2, 24)


def test_graph_attention_with_its_structure_loss(run, tmp_path):
    options = {"graph_attention_layers": 2, "graph_attention_head_size": 4, "structure_loss_weight": 0.5}
    assert list(run(**options, syntax_features=["none"])) == ["gat-structure"]
    with pytest.raises(ValueError, match="--label_smoothing_factor would leave out the structure loss"):
        run("other", **options, label_smoothing_factor=0.1)


def test_a_checkpoint_keeps_its_own_parser(run, marian_checkpoint, tmp_path):
    run(model_name_or_path=marian_checkpoint, save_strategy="epoch", parser_beam_size=1)
    again = {"model_name_or_path": tmp_path / "out", "save_strategy": "epoch"}
    run("again", **again)
    assert SyntaxMarianTokenizer.from_pretrained(tmp_path / "again").parser.beam_size == 1
    file = tmp_path / "out" / "tokenizer_config.json"
    saved = json.loads(file.read_text())
    file.write_text(json.dumps(saved | {"syntax": saved["syntax"] | {"parser": None}}))
    with pytest.raises(ValueError, match="carries no parser: name one by --parser"):
        run("third", **again)


def test_a_model_keeps_the_options_that_it_was_measured_with(run, tmp_path):
    run(save_strategy="epoch", generation_max_length=11, generation_num_beams=3, eval_strategy="epoch")
    options = json.loads((tmp_path / "out" / "generation_config.json").read_text())
    assert (options["max_length"], options["num_beams"]) == (11, 3)


def test_a_saved_model_is_only_evaluated_and_translates(run, tmp_path):
    trained = run(save_strategy="epoch")
    saved = {"model_name_or_path": tmp_path / "out", "train_file": None}
    (scores,) = run("again", **saved, do_predict=True, validation_file=None).values()
    assert scores == next(iter(trained.values()))
    assert (tmp_path / "again" / "test.txt").read_text() == (tmp_path / "out" / "test.txt").read_text()
    assert list(run("third", **saved, do_eval=True, test_file=None)) == ["upos-sum"]
    assert (tmp_path / "third" / "eval_results.json").exists()
    with pytest.raises(ValueError, match="a model from scratch is trained first: add --do_train"):
        run("fourth", do_eval=True)


def test_language_codes_are_pieces(run, write, tmp_path):
    texts = [f">>{code}<< {source}" for source in SOURCES for code in ("deu", "fra")]
    files = [write("codes.en", "\n".join(texts)), write("codes.xx", "\n".join(2 * TARGETS))]
    run(train_file=files, save_strategy="epoch", train_tokenizer=35)
    tokenizer = SyntaxMarianTokenizer.from_pretrained(tmp_path / "out")
    assert tokenizer.supported_language_codes == [">>deu<<", ">>fra<<"]
    codes = [tokenizer(text)["input_ids"][0] for text in texts[:2]]
    assert len({tokenizer.unk_token_id, *codes}) == 3


def test_a_source_is_parsed_in_its_own_language(run, write):
    file = write(
        "pairs.jsonl", [{"de": target, "en": source} for source, target in zip(SOURCES, TARGETS, strict=True)]
    )
    data = {f"{split}_file": file for split in ("train", "validation", "test")}
    assert list(run(**data, source_lang="en", target_lang="de")) == ["upos-sum"]
    with pytest.raises(ValueError, match="'de'"):
        run("other", **data, source_lang="de", target_lang="en")


def test_concatenated_features_stay_with_their_checkpoint(run, tmp_path):
    concat = {"feature_combination": "concat", "feature_size": 4}
    run(save_strategy="epoch", **concat)
    saved = {"model_name_or_path": tmp_path / "out"}
    for changed in ({"compare_baseline": True}, {"syntax_features": ["none"]}, {"feature_combination": "sum"}):
        with pytest.raises(ValueError, match=r"width 28, and these features leave 32: .* or --from_scratch"):
            run("other", **saved, **changed)
    assert list(run("again", **saved)) == ["upos-concat"]


def test_a_checkpoint_is_fine_tuned(run, marian_checkpoint, tmp_path):
    scores = run(model_name_or_path=marian_checkpoint, save_strategy="epoch", label_smoothing_factor=0.1)
    assert list(scores) == ["upos-sum"]
    model = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "out")
    assert type(model) is SyntaxMarianMT
    assert any(table.any() for table in model.model.encoder.feature_combination.parameters())
    tokenizer = SyntaxMarianTokenizer.from_pretrained(tmp_path / "out")
    assert tokenizer.syntax_columns == ("upos_ids",)
    with torch.no_grad():
        model.generate(**tokenizer(SOURCES, padding=True, return_tensors="pt"), max_new_tokens=3)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"train_tokenizer": None}, "give --model_name_or_path, or --train_tokenizer"),
        ({"model_name_or_path": "x", "train_tokenizer": 40}, "give --model_name_or_path, or --train_tokenizer"),
        ({"test_file": None}, "there are no test data: give --test_file"),
        ({"distance_scaling": "dependency", "sparsing_prob": 0.3}, "no effect without --scaling_sparsing"),
        ({"feature_sizes": [4]}, "no effect without --feature_combination concat_each"),
        ({"source_lang": "de", "target_lang": "en"}, "no embedded parser for 'de'.* as --parser"),
        ({"train_fraction": 0.0}, "--train_fraction must be above 0"),
        ({"train_tokenizer": 4000}, "no vocabulary of 4000 pieces can be trained"),
        ({"compare_baseline": True, "syntax_features": ["none"]}, "nothing to compare plain Marian with"),
        ({"feature_combination": "concat", "feature_size": 32}, "leave 0 of d_model=32"),
        ({"max_length": 65}, "--max_length must be 3 to the model's 64 positions, got 65"),
        ({"generation_max_length": 2}, "--generation_max_length must be 3 to"),
    ],
)
def test_bad_settings(run, settings, message):
    with pytest.raises((ValueError, StrictDataclassError), match=message):
        run(**settings)


def test_overrides_are_for_models_from_scratch(run, marian_checkpoint):
    with pytest.raises(ValueError, match="--config_overrides are for a model from scratch"):
        run(model_name_or_path=marian_checkpoint, config_overrides="d_model=64")
