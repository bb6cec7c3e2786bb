"""The files that build, test and publish the package: they parse, name what exists, and agree on
versions with pyproject.toml, the one place of each."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
TEMPLATES = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
CLASSIFIER = re.compile(r"Programming Language :: Python :: (3\.\d+)")


def minor(version: str) -> int:
    return int(re.fullmatch(r"3\.(\d+)", version)[1])


def read_yaml(path: Path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def lowest_python() -> str:
    return re.fullmatch(r">=(3\.\d+)", PROJECT["project"]["requires-python"])[1]


def test_python_versions_agree():
    lowest = lowest_python()
    found = [CLASSIFIER.fullmatch(line) for line in PROJECT["project"]["classifiers"]]
    classified = [match[1] for match in found if match]
    first = minor(lowest)
    assert [minor(v) for v in classified] == list(range(first, first + len(classified)))
    wheels = [
        re.fullmatch(r"cp3(\d+)-\*", tag)[1] for tag in PROJECT["tool"]["cibuildwheel"]["build"]
    ]
    tested = read_yaml(ROOT / ".github/workflows/tests.yml")["jobs"]["python"]["strategy"]["matrix"]
    assert [minor(v) for v in tested["python"]] == [int(v) for v in wheels]
    assert {minor(v) for v in classified} <= {int(v) for v in wheels}
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + lowest.replace(".", "")
    assert PROJECT["tool"]["mypy"]["python_version"] == lowest
    assert f"Python {lowest} or newer" in (ROOT / "README.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "platforms.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| CPython (3\.\d+)\.\d+ \|", page, re.MULTILINE))
    assert rows == set(classified)  # a version is classified if its tests ran


def test_recipe_and_citation_agree_with_the_project():
    project = PROJECT["project"]
    recipe = read_yaml(ROOT / "recipe" / "recipe.yaml")
    citation = read_yaml(ROOT / "CITATION.cff")
    assert recipe["context"] == {"version": project["version"], "python_min": lowest_python()}
    assert citation["version"] == project["version"]
    assert recipe["about"]["summary"] == project["description"]
    assert recipe["about"]["license"] == project["license"]
    assert recipe["about"]["license_file"] == project["license-files"]
    host = {re.sub(r" ", "", line) for line in recipe["requirements"]["host"]}
    assert set(PROJECT["build-system"]["requires"]) <= host
    run = {re.sub(r" ", "", line) for line in recipe["requirements"]["run"]}
    assert {*project["dependencies"]} - {"scipy-openblas32"} <= run


def test_workflows():
    assert [path.stem for path in WORKFLOWS] == ["nightly", "tests", "wheels"]
    for path in WORKFLOWS:
        workflow = read_yaml(path)
        assert workflow["name"] == path.stem
        assert workflow[True]  # `on`, which YAML 1.1 reads as a boolean
        assert workflow["permissions"] == {"contents": "read"}
        for name, job in workflow["jobs"].items():
            assert {"runs-on", "steps"} <= job.keys(), (path.name, name)
            assert {*job.get("needs", [])} <= workflow["jobs"].keys()
            for step in job["steps"]:
                assert ("uses" in step) != ("run" in step), (path.name, step)
                assert "@" in step.get("uses", "@")
                for tool in re.findall(r"\btools/\w+", step.get("run", "")):
                    assert os.access(ROOT / tool, os.X_OK), (path.name, tool)


def test_every_nightly_step_is_a_job():
    script = (ROOT / "tools" / "nightly").read_text(encoding="utf-8")
    order = re.search(r"^order=\(([^)]*)\)", script, re.MULTILINE)[1].split()
    assert sorted(order) == sorted(re.findall(r"^  \[([\w-]+)\]='", script, re.MULTILINE))
    jobs = read_yaml(ROOT / ".github/workflows/nightly.yml")["jobs"]
    assert jobs["step"]["strategy"]["matrix"]["step"] == order


def test_issue_templates():
    for path in TEMPLATES:
        form = read_yaml(path)
        if path.stem == "config":
            continue
        assert form["name"] and form["description"], path.name
        names = [field["id"] for field in form["body"]]
        assert len(names) == len(set(names)) > 0
        for field in form["body"]:
            assert field["type"] == "textarea"
            assert field["attributes"]["label"]
    assert len(TEMPLATES) > 2


def test_bill_of_materials():
    """Its template has a place for each version, and every component is a dependency."""
    template = (ROOT / "cmake" / "pullback.cdx.json.in").read_text(encoding="utf-8")
    versions = {"SKBUILD_PROJECT_VERSION": "1.2.3", "pybind11_VERSION": "4.5.6"}
    bill = json.loads(re.sub(r"@(\w+)@", lambda match: versions[match[1]], template))
    described = bill["metadata"]["component"]
    assert (bill["bomFormat"], described["version"]) == ("CycloneDX", "1.2.3")
    assert described["purl"] == "pkg:pypi/pullback@1.2.3"
    components = {part["bom-ref"]: part for part in bill["components"]}
    assert components["pybind11"]["purl"] == "pkg:pypi/pybind11@4.5.6"
    edges = {entry["ref"]: entry.get("dependsOn", []) for entry in bill["dependencies"]}
    assert edges.keys() == {"pullback", *components}
    assert sorted(edges["pullback"]) == sorted(components)
    licences = {
        part["licenses"][0]["license"]["id"] for part in [described, components["mnist-sample"]]
    }
    assert " AND ".join(sorted(licences, reverse=True)) == PROJECT["project"]["license"]
