#!/usr/bin/python3
"""The answers of a running server fit the schemas of the protocol (answer_schemas.yaml).

usage: test_answers.py MILLRACE
"""
import json
import pathlib
import struct
import sys
import unittest

import server

yaml, jsonschema = server.needs("yaml", "jsonschema")

PROGRAM = sys.argv.pop(1)
SCHEMAS = yaml.safe_load((pathlib.Path(__file__).parent / "answer_schemas.yaml").read_text("utf-8"))
INFER = "/v2/models/glyphs/infer"


class Answers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.served = server.Server(PROGRAM, server.MODEL)

    @classmethod
    def tearDownClass(cls):
        cls.served.stop()

    def answer(self, schema, path, body=None, status=200, **more):
        """Asks, checks the answer, and returns it."""
        got, header, text = self.served.ask(path, body, **more)
        self.assertEqual(got, status, text)
        self.assertEqual(header.get_content_type(), "application/json")
        answer = json.loads(text)
        jsonschema.validate(answer, {**SCHEMAS["answers"][schema], "definitions": SCHEMAS["definitions"]})
        return answer

    def test_health(self):
        self.answer("live", "/v2/health/live")
        self.assertTrue(self.answer("ready", "/v2/health/ready")["ready"])
        for path in ("/v2/models/glyphs/ready", "/v2/models/glyphs/versions/1/ready"):
            self.assertTrue(self.answer("model_ready", path)["ready"])

    def test_descriptions(self):
        for path in ("/v2", "/v2/"):
            self.assertEqual(self.answer("server", path)["name"], "millrace")
        for path in ("/v2/models/glyphs", "/v2/models/glyphs/versions/1"):
            model = self.answer("model", path)
            self.assertEqual(model["inputs"], [{"name": "image", "datatype": "FP32", "shape": [1, 1, 32, 32]}])

    def test_inference_in_json(self):
        answer = self.answer("infer", INFER, server.glyphs_request(id="7", outputs=[{"name": "scores"}]))
        self.assertEqual((answer["id"], answer["model_name"], answer["model_version"]), ("7", "glyphs", "1"))
        (output,) = answer["outputs"]
        self.assertEqual((output["shape"], len(output["data"])), ([1, 40], 40))
        nested = server.glyphs_request()
        nested["inputs"][0]["data"] = [[[[0.5] * 32] * 32]]
        self.answer("infer", "/v2/models/glyphs/versions/1/infer", nested)

    def test_classes_are_texts(self):
        wanted = [{"name": "scores", "parameters": {"classification": 3}}]
        (output,) = self.answer("infer", INFER, server.glyphs_request(outputs=wanted))["outputs"]
        self.assertEqual((output["datatype"], output["shape"]), ("BYTES", [1, 3]))

    def test_inference_with_raw_tensors(self):
        request = server.glyphs_request(parameters={"binary_data_output": True})
        del request["inputs"][0]["data"]
        request["inputs"][0]["parameters"] = {"binary_data_size": 4096}
        head = json.dumps(request).encode()
        status, header, body = self.served.ask(
            INFER, head + struct.pack("<1024f", *[0.5] * 1024), Inference_Header_Content_Length=str(len(head)))
        self.assertEqual(status, 200, body)
        length = int(header["Inference-Header-Content-Length"])
        answer = json.loads(body[:length])
        jsonschema.validate(answer, {**SCHEMAS["answers"]["infer"], "definitions": SCHEMAS["definitions"]})
        self.assertEqual(answer["outputs"][0]["parameters"]["binary_data_size"], len(body) - length)

    def test_extensions(self):
        self.assertEqual(self.answer("index", "/v2/repository/index", {})[0]["name"], "glyphs")
        for path in ("/v2/models/stats", "/v2/models/glyphs/stats", "/v2/models/glyphs/versions/1/stats"):
            self.answer("statistics", path)

    def test_errors(self):
        self.answer("error", "/v2/models/nobody", status=404)
        self.answer("error", "/v2/models/nobody/infer", {}, status=404)
        self.answer("error", INFER, b"{", status=400)
        self.answer("error", INFER, {"inputs": []}, status=400)
        self.answer("error", INFER, status=405)
        self.answer("error", "/v2/repository/models/glyphs/load", {}, status=403)


if __name__ == "__main__":
    unittest.main()
