#!/usr/bin/python3
"""The files of deploy/ fit what they are for: the schemas of Kubernetes and KServe, as far as
manifest_schemas.yaml has them, and the options, paths and metrics of the server.

usage: test_manifests.py MILLRACE     WITH_GRPC=OFF says that it was built without gRPC
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import server

yaml, jsonschema = server.needs("yaml", "jsonschema")

DEPLOY = server.ROOT / "deploy"
PROGRAM = sys.argv.pop(1)
WITHOUT_GRPC = os.environ.get("WITH_GRPC") == "OFF"


def manifests():
    """Yields each object of the .yaml files that has a kind, with its file."""
    for path in sorted(DEPLOY.rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text(encoding="utf-8")):
            if "kind" in document:
                yield path.name, document


def containers():
    """Yields the file and each container with the arguments of a server."""
    for name, document in manifests():
        spec = document["spec"]
        spec = spec.get("template", {}).get("spec", spec)
        for container in spec.get("containers", []):
            yield name, container, spec


def probes(container):
    return [probe["httpGet"] for key, probe in container.items() if key.endswith("Probe")]


def metrics_in(text):
    return set(re.findall(r"\bmillrace_\w+", text))


class Manifests(unittest.TestCase):
    def test_each_object_fits_its_schema(self):
        schemas = yaml.safe_load((pathlib.Path(__file__).parent / "manifest_schemas.yaml").read_text("utf-8"))
        seen = set()
        for name, document in manifests():
            kind = f"{document['apiVersion']} {document['kind']}"
            with self.subTest(file=name, kind=kind):
                self.assertIn(kind, schemas["kinds"])
                self.assertLessEqual(set(document), {"apiVersion", "kind", "metadata", "spec"})
                for part, schema in [("metadata", schemas["definitions"]["metadata"]), ("spec", schemas["kinds"][kind])]:
                    jsonschema.validate(document[part], {**schema, "definitions": schemas["definitions"]})
                seen.add(kind)
        self.assertEqual(seen, set(schemas["kinds"]), "a schema is of no use without a manifest")

    def test_containers_may_do_little(self):
        for name, container, spec in containers():
            with self.subTest(file=name):
                rights = {**spec.get("securityContext", {}), **container["securityContext"]}
                self.assertTrue(rights["runAsNonRoot"])
                self.assertTrue(rights["readOnlyRootFilesystem"])
                self.assertFalse(rights["allowPrivilegeEscalation"])
                self.assertEqual(rights["capabilities"], {"drop": ["ALL"]})
                self.assertEqual(rights["seccompProfile"], {"type": "RuntimeDefault"})

    def test_options_are_those_of_the_server(self):
        known = subprocess.run([PROGRAM, "serve", "--help"], check=True, capture_output=True, text=True).stdout
        for name, container, _ in containers():
            for word in container["args"]:
                if word.startswith("--"):
                    self.assertIn(word.split("=")[0], re.findall(r"--[a-z-]+", known), name)

    def test_names_refer_to_each_other(self):
        objects = {(document["kind"], document["metadata"]["name"]): document for _, document in manifests()}
        deployment = objects["Deployment", "millrace"]["spec"]
        labels = deployment["template"]["metadata"]["labels"]
        self.assertEqual(deployment["selector"]["matchLabels"], labels)
        self.assertEqual(objects["Service", "millrace"]["spec"]["selector"], labels)
        self.assertEqual(objects["PodDisruptionBudget", "millrace"]["spec"]["selector"]["matchLabels"], labels)
        self.assertEqual(objects["HorizontalPodAutoscaler", "millrace"]["spec"]["scaleTargetRef"]["name"], "millrace")
        ports = {port["name"] for port in deployment["template"]["spec"]["containers"][0]["ports"]}
        for port in objects["Service", "millrace"]["spec"]["ports"]:
            self.assertIn(port["targetPort"], ports)
        model = objects["InferenceService", "glyphs"]["spec"]["predictor"]["model"]
        runtime = objects["ServingRuntime", model["runtime"]]["spec"]
        self.assertIn(model["modelFormat"]["name"], [known["name"] for known in runtime["supportedModelFormats"]])
        self.assertIn(model["protocolVersion"], runtime["protocolVersions"])

    def test_probes_ask_a_port_of_the_container(self):
        for name, container, _ in containers():
            ports = container["ports"]
            known = {port.get("name") for port in ports} | {port["containerPort"] for port in ports}
            for probe in probes(container):
                self.assertIn(probe["port"], known, name)

    def test_the_time_to_end_is_long_enough(self):
        _, document = next(pair for pair in manifests() if pair[1]["kind"] == "Deployment")
        pod = document["spec"]["template"]["spec"]
        container = pod["containers"][0]
        drain = next(word for word in container["args"] if word.startswith("--drain="))
        seconds = int(drain.removeprefix("--drain=").removesuffix("s"))
        pause = container["lifecycle"]["preStop"]["sleep"]["seconds"]
        self.assertGreater(pod["terminationGracePeriodSeconds"], seconds + pause)


class Served(unittest.TestCase):
    """Each container's arguments, with other ports and the null device, start a server that answers."""

    def test_probes_are_answered_and_metrics_exist(self):
        named = metrics_in((DEPLOY / "kubernetes/prometheus-adapter.yaml").read_text("utf-8"))
        named |= metrics_in((DEPLOY / "kubernetes/autoscaler.yaml").read_text("utf-8"))
        dashboard = json.loads((DEPLOY / "grafana/millrace.json").read_text("utf-8"))
        named |= metrics_in(json.dumps(dashboard))
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(server.MODEL, folder)
            for name, container, _ in containers():
                with self.subTest(file=name), server.Server(PROGRAM, *self.arguments(container, folder)) as served:
                    for probe in probes(container):
                        self.assertEqual(served.ask(probe["path"])[0], 200, probe)
                    infer = served.ask("/v2/models/glyphs/infer", server.glyphs_request())
                    self.assertEqual(infer[0], 200, infer[2])
                    exported = re.findall(r"^(\w+)[{ ]", served.ask("/metrics")[2].decode(), re.MULTILINE)
                    self.assertLessEqual(named, set(exported))
                    self.assertEqual(served.stop(), 0)
        self.assertIn("millrace_jobs_in_flight", named)

    @staticmethod
    def arguments(container, folder):
        assert container["args"][:2] == ["serve", "/mnt/models"]
        for word in container["args"][2:]:
            if word.startswith("--grpc-port="):
                word = "" if WITHOUT_GRPC else "--grpc-port=0"
            if word and not word.startswith(("--http-port=", "--address=")):
                yield word.replace("{{.Name}}", "glyphs")
        yield folder


class Dashboard(unittest.TestCase):
    def test_panels_have_queries_and_places_of_their_own(self):
        dashboard = json.loads((DEPLOY / "grafana/millrace.json").read_text("utf-8"))
        panels = dashboard["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        self.assertEqual(len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}), len(panels))
        for panel in panels:
            self.assertTrue(panel["title"])
            for target in panel["targets"]:
                self.assertTrue(metrics_in(target["expr"]), panel["title"])
                self.assertEqual(target["expr"].count("("), target["expr"].count(")"))


if __name__ == "__main__":
    unittest.main()
