#!/usr/bin/env python3
"""The machine-readable reports are valid.

  report_formats_test.py WARPCHECK ROOT

Runs hunt, check, replay, shrink, fuzz and campaign with every report, and list --json, and validates: JSON against
docs/use/report.schema.json, JUnit and SARIF against harness/report/schemas/, lcov and HTML by parsing
them.  A schema must also refuse: each gets a damaged copy of a report that it has accepted.
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import jsonschema
from lxml import etree, html

SPECIMEN = "scan_hillis_steele_published"
CLEAN = "scan_hillis_steele"
LINE = ("kernels/specimens/scan_hillis_steele.cu", 14)


def check(condition, what, shown=""):
    if not condition:
        sys.exit(f"{what}\n{shown}")


class Formats:
    def __init__(self, program, root):
        self.program, self.root = program, root
        schemas = root / "harness" / "report" / "schemas"
        self.report = self.validator(root / "docs" / "use" / "report.schema.json")
        self.sarif = self.validator(schemas / "sarif-2.1.0-subset.schema.json")
        self.junit = etree.XMLSchema(etree.parse(str(schemas / "junit.xsd")))

    @staticmethod
    def validator(path):
        schema = json.loads(path.read_text())
        jsonschema.Draft7Validator.check_schema(schema)
        return jsonschema.Draft7Validator(schema)

    def run(self, status, *arguments):
        """Runs a command with every report; returns them."""
        files = {name: f"report.{name}" for name in ("json", "html", "junit", "sarif", "lcov")}
        options = [word for name, file in files.items() for word in (f"--{name}", file)]
        done = subprocess.run([self.program, *arguments, *options], capture_output=True, text=True,
                              check=False)
        check(done.returncode == status, f"{arguments}: status {done.returncode}, not {status}",
              done.stdout + done.stderr)
        reports = {name: pathlib.Path(file).read_text() for name, file in files.items()}
        for file in files.values():
            pathlib.Path(file).unlink()
        self.validate(reports, arguments)
        return reports

    def validate(self, reports, arguments):
        document = json.loads(reports["json"])
        self.accept(self.report, document, arguments)
        self.refuse(self.report, document, "version")
        check(document["command"] == arguments[0], f"{arguments}: command", document["command"])
        for claim in document["claims"]:
            check(all(i < len(document["failures"]) for i in claim["failures"]), "indices", claim)

        sarif = json.loads(reports["sarif"])
        self.accept(self.sarif, sarif, arguments)
        self.refuse(self.sarif, sarif, "runs")
        rules = sarif["runs"][0]["tool"]["driver"]["rules"]
        hashes = {finding["hash"] for finding in document["findings"]}
        for result in sarif["runs"][0]["results"]:
            check(rules[result["ruleIndex"]]["id"] == result["ruleId"], "ruleIndex", result)
            check(result["partialFingerprints"]["warpcheckFindingHash/v1"] in hashes, "hash", result)
        check((sarif["runs"][0]["results"] == []) == (not hashes), "results", reports["sarif"])

        junit = etree.fromstring(reports["junit"].encode())
        check(self.junit.validate(junit), f"{arguments}: JUnit", self.junit.error_log)
        check(len(junit.findall(".//testcase")) == len(document["claims"]), "test cases")
        for suite in [junit, *junit.findall("testsuite")]:
            for attribute, element in (("tests", "testcase"), ("failures", "failure"),
                                       ("errors", "error")):
                check(int(suite.get(attribute)) == len(suite.findall(f".//{element}")),
                      f"{attribute} of {suite.get('name')}", reports["junit"])
        damaged = copy.deepcopy(junit)
        del damaged.attrib["tests"]
        check(not self.junit.validate(damaged), "the JUnit schema accepts anything")

        self.validate_lcov(reports["lcov"], document["coverage"])
        self.validate_html(reports["html"], document)

    @staticmethod
    def accept(validator, document, arguments):
        errors = [f"{list(error.absolute_path)}: {error.message}"
                  for error in validator.iter_errors(document)]
        check(not errors, f"{arguments}: not of its schema", "\n".join(errors))

    @staticmethod
    def refuse(validator, document, key):
        damaged = {name: value for name, value in document.items() if name != key}
        check(not validator.is_valid(damaged), f"the schema does not ask for {key}")

    @staticmethod
    def validate_lcov(text, coverage):
        """geninfo(1): TN, SF, DA ..., LF, LH, end_of_record for each file."""
        files, lines = {}, []
        for row in text.splitlines():
            tag, _, value = row.partition(":")
            if tag == "SF":
                lines = files.setdefault(value, [])
            elif tag == "DA":
                lines.append([int(number) for number in value.split(",")])
            elif tag == "LF":
                check(int(value) == len(lines), "LF", row)
            elif tag == "LH":
                check(int(value) == sum(count > 0 for _, count in lines), "LH", row)
            else:
                check(row in ("TN:", "end_of_record"), "no such record", row)
        check(files == coverage, "lcov and JSON differ", text)

    @staticmethod
    def validate_html(text, document):
        check(text.startswith("<!DOCTYPE html>"), "no document type", text[:80])
        page = html.document_fromstring(text)
        for tag in ("script", "link", "img", "iframe", "object", "base", "form"):
            check(not page.findall(f".//{tag}"), f"the page has <{tag}>")
        outside = [value for node in page.iter() for name, value in node.items()
                   if name in ("src", "href", "style") or name.startswith("on")]
        check(not outside and "url(" not in text and "@import" not in text, "not alone", outside)
        shown = page.text_content()
        for finding in document["findings"]:
            check(finding["kernel"] in shown, "a finding is not shown", finding)
        rows = page.xpath("//table[@class='verdicts']/tbody/tr")
        check(len(rows) == len(document["claims"]), "rows of the verdict table")


def main():
    program, root = str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(sys.argv[2]).resolve()
    formats = Formats(program, root)
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)

        hunt = formats.run(0, "hunt", "--pairs", f"{SPECIMEN},{CLEAN}", "--trials", "50",
                           "--jobs", "2")
        results = json.loads(hunt["sarif"])["runs"][0]["results"]
        races = [result for result in results if result["ruleId"] == "data-race"]
        place = races[0]["locations"][0]["physicalLocation"]
        check((place["artifactLocation"]["uri"], place["region"]["startLine"]) == LINE, "place", place)
        check(len(races[0]["relatedLocations"]) == 1, "the other side of the race", races[0])
        check(all("suppressions" in result for result in results), "expected, so suppressed", results)
        check("<svg" in hunt["html"] and "__syncthreads();" in hunt["html"], "picture and source")
        once = ("hunt", "--pairs", SPECIMEN, "--trials", "50", "--jobs")
        check(formats.run(0, *once, "1") == formats.run(0, *once, "3"), "the same bytes")

        found = formats.run(1, "check", SPECIMEN, CLEAN, "--trials", "200", "--statistics")
        check('<failure message="FAIL: data-race' in found["junit"], "a failure", found["junit"])
        check("suppressions" not in found["sarif"], "nothing is suppressed where it failed")
        formats.run(0, "check", CLEAN, "--trials", "20")

        case = json.loads(found["json"])["failures"][0]["case"]
        pathlib.Path("damaged.case").write_text("{")
        formats.run(1, "replay", case)
        formats.run(0, "replay", case, "--expect-recorded")
        damaged = formats.run(2, "replay", case, "damaged.case")
        check("<error " in damaged["junit"], "what cannot be read is an error", damaged["junit"])
        check('"executionSuccessful": false' in damaged["sarif"], "and the run was not successful")
        formats.run(1, "shrink", case, "-o", "small.case")

        fuzzed = formats.run(1, "fuzz", SPECIMEN, "--runs", "2000", "--seconds", "0",
                             "--stop-when-found")
        check(LINE[0] in json.loads(fuzzed["json"])["coverage"], "lines of a search", fuzzed["lcov"])
        searched = formats.run(1, "campaign", "night", "--pairs", SPECIMEN, "--jobs", "2",
                               "--stop-when-found")
        check(LINE[0] in json.loads(searched["json"])["coverage"], "lines of the corpus",
              searched["lcov"])
        formats.run(0, "fuzz", CLEAN, "--runs", "50", "--seconds", "0")

        listed = subprocess.run([program, "list", "--json"], capture_output=True, check=True)
        document = json.loads(listed.stdout)
        formats.accept(formats.report, document, "list")
        formats.refuse(formats.report, document, "schema")
    print("every report is of its format")


if __name__ == "__main__":
    main()
