#!/usr/bin/env python3
"""Workflows for CI services match their published schemas, and their commands exist.

  workflows_test.py REPOSITORY WARPCHECK

Validates ci/workflows/*.yml and the YAML in docs/use/campaigns-ci-matrix.md; looks up every option that they
give to a warpcheck command in its --help; and runs the shell commands of `properties` and `campaign` through
`sh -n`.
"""
import json
import pathlib
import re
import subprocess
import sys

import jsonschema
import yaml

REPOSITORY, WARPCHECK = pathlib.Path(sys.argv[1]), sys.argv[2]
HERE = REPOSITORY / "ci" / "workflows"
PROGRAM = re.compile(r"(?:\$PROGRAM|build/warpcheck) (\w+)((?: [^\n|]*)?)")


def load(text):
    """YAML 1.2 as services read it: `on` is a string."""
    loader = type("Loader", (yaml.SafeLoader,), {"yaml_implicit_resolvers": {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:bool"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()}})
    return yaml.load(text, loader)


def validate(workflow, schema):
    schema = json.loads((HERE / "schemas" / schema).read_text())
    validator = jsonschema.validators.validator_for(schema)(schema)
    errors = [f"{'/'.join(map(str, error.absolute_path))}: {error.message}"[:300]
              for error in validator.iter_errors(workflow)]
    assert not errors, errors


def commands_of(node):
    """Every `run` of GitHub, every line of a `script` of GitLab."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("run", "script", "before_script"):
                yield "\n".join(value) if isinstance(value, list) else value
            else:
                yield from commands_of(value)
    elif isinstance(node, list):
        for value in node:
            yield from commands_of(value)


def check_commands(name, workflow):
    """Returns how many warpcheck commands there are."""
    count = 0
    for commands in commands_of(workflow):
        assert subprocess.run(["sh", "-n", "-c", commands], check=False).returncode == 0, commands
        for command, arguments in PROGRAM.findall(commands):
            page = subprocess.run([WARPCHECK, command, "--help"], capture_output=True, text=True, check=True).stdout
            for option in re.findall(r"--[a-z-]+", arguments):
                assert re.search(rf"{option}\b", page), f"{name}: {command} has no option {option}"
            count += 1
    return count


def main():
    github, gitlab = (load((HERE / name).read_text()) for name in ("github.yml", "gitlab.yml"))
    matrix = load(re.search(r"```yaml\n(.*?)```", (REPOSITORY / "docs" / "use" / "campaigns-ci-matrix.md").read_text(),
                            re.DOTALL).group(1))
    matrix["on"] = "push"  # a part of a workflow
    validate(github, "github-workflow.json")
    validate(gitlab, "gitlab-ci.json")
    validate(matrix, "github-workflow.json")
    assert [check_commands("github.yml", github), check_commands("gitlab.yml", gitlab),
            check_commands("campaigns-ci-matrix.md", matrix)] == [2, 2, 2]
    # A schema that accepts everything proves nothing.
    for broken, schema in (({**github, "jobs": {"a": {"runs-on": "x", "stepz": []}}}, "github-workflow.json"),
                           ({**gitlab, "properties": {"script": 7}}, "gitlab-ci.json")):
        try:
            validate(broken, schema)
        except AssertionError:
            continue
        sys.exit(f"{schema} accepts what is wrong")


main()
