"""Shared by tests of campaigns: the specimens with their expectations, and initial corpora."""
import json
import subprocess


# A campaign tries cases of the pair itself; what these claim of their counters, a hunt tries.
IN_CLAIMS_ALONE = {"transpose_naive", "transpose_unpadded"}


def expected_of_specimens(warpcheck):
    """{(pair, kind)}, of defects that a campaign can find."""
    listed = json.loads(subprocess.run([warpcheck, "list", "--json"], check=True,
                                       capture_output=True).stdout)["pairs"]
    return {(pair["name"], kind) for pair in listed if pair["name"] not in IN_CLAIMS_ALONE
            for kind in pair["expects"]}


def expected_of_half(warpcheck, half):
    """The same for every second specimen, from the first or the second on.  Most of a campaign's time goes into
    pairs whose defects it knows; two tests share the specimens, because in each all would take minutes."""
    expected = expected_of_specimens(warpcheck)
    pairs = sorted({pair for pair, _ in expected})[half::2]
    return {(pair, kind) for pair, kind in expected if pair in pairs}


def seed_corpora(directory, repository, pairs):
    """The tapes of the repository's cases: a search without them would take minutes."""
    for pair in pairs:
        for case in sorted((repository / "fuzz" / "cases" / pair).glob("*.case")):
            tape = json.loads(case.read_text()).get("tape", "")
            corpus = directory / "corpus" / pair
            corpus.mkdir(parents=True, exist_ok=True)
            # No decisions, no tail, the usual mode.
            (corpus / case.stem).write_bytes(bytes.fromhex(tape) + bytes(3))
