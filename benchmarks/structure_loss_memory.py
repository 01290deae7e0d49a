"""Peak memory of the structure loss, forward and backward, beside that of a (B, T, T, rank) tensor of differences.

python benchmarks/structure_loss_memory.py --batch_size 32 --length 128
"""

import argparse
import json
import multiprocessing
import resource

import torch

from syntax_bert.modeling.dependency_tree import read_trees
from syntax_bert.modeling.structure_loss import StructureProbe, structure_loss


class DifferencesProbe(StructureProbe):
    """The same predictions, by way of the difference of each pair of tokens."""

    def forward(self, vectors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Predicts distances `(B, T, T)` and depths `(B, T)` from vectors `(B, T, W)`."""
        mapped = vectors @ self.distance.T
        distances = (mapped.unsqueeze(2) - mapped.unsqueeze(1)).square().sum(-1)
        return distances, (vectors @ self.depth.T).square().sum(-1)


def measure(probe_class: type[StructureProbe], batch_size: int, length: int, width: int, rank: int, queue) -> None:
    """Puts the loss and the growth of this process's peak memory, in MB, into a queue."""
    torch.manual_seed(0)
    torch.set_num_threads(1)
    probe = probe_class(width, rank)
    for weights in probe.parameters():
        torch.nn.init.xavier_uniform_(weights)
    vectors = torch.randn(batch_size, length, width, requires_grad=True)
    heads = torch.arange(length).sub(1).clamp(min=0).expand(batch_size, -1)
    mask = torch.ones_like(heads, dtype=torch.bool)
    tree = read_trees(heads, mask, length)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    loss = structure_loss(*probe(vectors), tree, mask)
    loss.backward()
    queue.put((loss.item(), (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))


def main() -> None:
    """Measures each way in a process of its own and prints one JSON object."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--batch_size", type=int, default=32)
    arguments.add_argument("--length", type=int, default=128)
    arguments.add_argument("--width", type=int, default=256)
    arguments.add_argument("--rank", type=int, default=64)
    options = vars(arguments.parse_args())
    context, found = multiprocessing.get_context("spawn"), {}
    for probe_class in (StructureProbe, DifferencesProbe):
        queue = context.Queue()
        process = context.Process(target=measure, args=(probe_class, *options.values(), queue))
        process.start()
        found[probe_class] = queue.get()
        process.join()
    (loss, peak), (other_loss, other_peak) = found.values()
    if abs(loss - other_loss) > 1e-3 * abs(loss):
        raise ValueError(f"the two ways disagree: {loss} and {other_loss}")
    result = {"peak, MB": round(peak, 1), "by differences, MB": round(other_peak, 1)}
    print(json.dumps({**result, "ratio": round(peak / other_peak, 4)}, indent=1))


if __name__ == "__main__":
    main()
