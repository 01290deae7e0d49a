from types import SimpleNamespace

import pytest
import torch

from syntax_bert import SyntaxMBertConfig, SyntaxMBertWithGATForTreeReconstruction, SyntaxTokenizerFast
from syntax_bert.modeling.dependency_tree import read_trees
from syntax_bert.tree_reconstruction import encode_treebanks, tree_scores

TREEBANK = """\
# text = The unhappy cat sees the river.
1\tThe\t_\tDET\t_\t_\t3\tdet\t_\t_
2\tunhappy\t_\tADJ\t_\t_\t3\tamod\t_\t_
3\tcat\t_\tNOUN\t_\t_\t4\tnsubj\t_\t_
4\tsees\t_\tVERB\t_\t_\t0\troot\t_\t_
5\tthe\t_\tDET\t_\t_\t6\tdet\t_\t_
6\triver\t_\tNOUN\t_\t_\t4\tobj\t_\tSpaceAfter=No
7\t.\t_\tPUNCT\t_\t_\t4\tpunct\t_\t_

# text = Who is that, you see
1\tWho\t_\tPRON\t_\t_\t3\tnsubj\t_\t_
2\tis\t_\tAUX\t_\t_\t3\tcop\t_\t_
3\tthat\t_\tPRON\t_\t_\t0\troot\t_\tSpaceAfter=No
4\t,\t_\tPUNCT\t_\t_\t3\tpunct\t_\t_
5\tyou\t_\tPRON\t_\t_\t6\tnsubj\t_\t_
6\tsee\t_\tVERB\t_\t_\t3\tparataxis\t_\t_

# text = .
1\t.\t_\tPUNCT\t_\t_\t0\troot\t_\t_

"""


@pytest.fixture
def tokenizer(plain_checkpoint):
    return SyntaxTokenizerFast.from_pretrained(plain_checkpoint)


@pytest.fixture
def dataset(tokenizer, tmp_path):
    path = tmp_path / "some.conllu"
    path.write_text(TREEBANK)
    return encode_treebanks([path], tokenizer, 16)


class FakeModel(torch.nn.Module):
    """Predicts a function of the true distances and depths, and of the tags."""

    def __init__(self, change):
        super().__init__()
        self.device = torch.device("cpu")
        self.config = SimpleNamespace(max_position_embeddings=16, max_dependency_distance=4)
        embeddings = SimpleNamespace(word_embeddings=lambda input_ids: input_ids)
        self.base_model = SimpleNamespace(embeddings=embeddings, graph_attention=FakeNetwork())
        self.structure_probe = FakeProbe(change)


class FakeNetwork(torch.nn.Module):
    def forward(self, embedded, columns, adjacency):
        assert embedded.dtype == torch.float64
        tree = read_trees(columns["head_positions"], columns["upos_ids"] > 0, 16)
        vectors = [tree.dependency_distances, tree.depths.unsqueeze(-1), columns["upos_ids"].unsqueeze(-1)]
        return torch.cat([each.double() for each in vectors], -1)


class FakeProbe(torch.nn.Module):
    def __init__(self, change):
        super().__init__()
        self.change = change

    def forward(self, vectors):
        return self.change(vectors[..., :-2], vectors[..., -2], vectors[..., -1])


def scores_of(dataset, tokenizer, change, batch_size=2):
    return tree_scores(FakeModel(change), dataset, tokenizer, batch_size)


def test_sentences_are_encoded_with_their_gold_trees(dataset):
    assert dataset.num_rows == 3
    assert dataset[0]["subword_ids"] == [0, 4, 1, 3, 4, 1, 3, 4, 4, 4, 0]  # un ##happy, see ##s
    assert dataset[0]["head_positions"] == [0, 4, 4, 2, 5, 0, 5, 8, 5, 5, 0]


@pytest.mark.parametrize("batch_size", [1, 3])
def test_perfect_predictions(dataset, tokenizer, batch_size):
    scores = scores_of(dataset, tokenizer, lambda distances, depths, upos: (distances, depths), batch_size)
    assert scores == {
        "uuas": 1.0,
        "root_accuracy": 1.0,
        "distance_spearman": pytest.approx(1.0),
        "depth_spearman": pytest.approx(1.0),
        "sentences": 3,
    }


def test_reversed_predictions(dataset, tokenizer):
    scores = scores_of(dataset, tokenizer, lambda distances, depths, upos: (-distances, -depths))
    assert scores["uuas"] < 0.5
    assert scores["root_accuracy"] == 0
    assert scores["distance_spearman"] == pytest.approx(-1.0)
    assert scores["depth_spearman"] == pytest.approx(-1.0)


def test_constant_predictions(dataset, tokenizer):
    scores = scores_of(dataset, tokenizer, lambda distances, depths, upos: (0 * distances, 0 * depths))
    assert scores["distance_spearman"] == scores["depth_spearman"] == 0
    assert 0 < scores["uuas"] < 1  # any tree has some arcs


def test_punctuation_and_later_wordpieces_do_not_count(dataset, tokenizer):
    """For the arcs and the root; the correlations are those of Hewitt & Manning, over all words."""

    def spoilt(distances, depths, upos):
        is_punctuation = upos == 14
        either = is_punctuation[:, :, None] | is_punctuation[:, None, :]
        return distances.masked_fill(either, -7.0), depths.masked_fill(is_punctuation, -7.0)

    scores = scores_of(dataset, tokenizer, spoilt)
    assert (scores["uuas"], scores["root_accuracy"]) == (1.0, 1.0)
    assert scores["distance_spearman"] < 1

    def without_later_pieces(distances, depths, upos):
        depths, distances = depths.clone(), distances.clone()
        depths[0, 3], distances[0, 3], distances[0, :, 3] = -7.0, -7.0, -7.0  # ##happy
        return distances, depths

    assert scores_of(dataset.select([0]), tokenizer, without_later_pieces)["depth_spearman"] == pytest.approx(1.0)


def test_sentences_without_words(dataset, tokenizer):
    scores = scores_of(dataset.select([2]), tokenizer, lambda distances, depths, upos: (distances, depths))
    assert all(value is None for name, value in scores.items() if name != "sentences")
    assert list(scores) == ["uuas", "root_accuracy", "distance_spearman", "depth_spearman", "sentences"]


def test_a_model_is_measured_and_left_in_its_mode(dataset, tokenizer, plain_checkpoint):
    config = SyntaxMBertConfig.from_pretrained(plain_checkpoint, structure_loss_weight=1.0)
    torch.manual_seed(0)
    model = SyntaxMBertWithGATForTreeReconstruction.from_pretrained(plain_checkpoint, config=config).train()
    first, second = (tree_scores(model, dataset, tokenizer, batch_size) for batch_size in (1, 3))
    assert first == pytest.approx(second)
    assert model.training
    assert -1 <= first["distance_spearman"] <= 1


def test_a_sentence_without_heads_is_named(tokenizer, tmp_path):
    path = tmp_path / "tagged.conllu"
    tagged = "# text = A cat\n1\tA\t_\tDET\t_\t_\t_\t_\t_\t_\n2\tcat\t_\tNOUN\t_\t_\t_\t_\t_\t_\n\n"
    path.write_text(TREEBANK + tagged)
    with pytest.raises(ValueError, match=r"tagged\.conllu: sentence 4 has no heads"):
        encode_treebanks([path], tokenizer, 16)
    path.write_text(TREEBANK.replace("\t4\tnsubj", "\t44\tnsubj"))
    with pytest.raises(ValueError, match=r"tagged\.conllu"):
        encode_treebanks([path], tokenizer, 16)


def test_long_sentences_are_cut(tokenizer, tmp_path):
    path = tmp_path / "some.conllu"
    path.write_text(TREEBANK)
    dataset = encode_treebanks([path, path], tokenizer, 6)
    assert dataset.num_rows == 6
    assert dataset[0]["head_positions"] == [0, 4, 4, 2, 0, 0]
    scores = scores_of(dataset, tokenizer, lambda distances, depths, upos: (distances, depths))
    assert (scores["uuas"], scores["root_accuracy"]) == (1.0, 1.0)
