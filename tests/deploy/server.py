"""A `millrace serve` that runs for a test, and requests to it. Needs nothing but Python itself."""
import json
import pathlib
import signal
import subprocess
import sys
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
MODEL = ROOT / "models/glyphs/glyphs.onnx"
SKIPPED = 77


def needs(*modules):
    """Imports the modules, or ends the test as skipped."""
    try:
        return [__import__(name) for name in modules]
    except ImportError as error:
        print(f"skipped: {error}; scripts/setup.sh installs python3-yaml and python3-jsonschema")
        sys.exit(SKIPPED)


class Server:
    """Serves on a free port of this machine, on the null device unless the arguments name another."""

    def __init__(self, program, *arguments):
        words = [program, "serve", *arguments, "--device=null", "--http-port=0"]
        self.process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line.startswith("ready: "):
            self.stop()
            raise RuntimeError(f"{' '.join(words)} is not ready: {line}")
        self.url = next(word for word in line.split() if word.startswith("http://"))
        self.line = line

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        """Ends the server, and returns its exit code."""
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.process.stdout.close()
        return code

    def ask(self, path, body=None, method=None, **fields):
        """Returns the status, the header and the body of an answer."""
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        named = {name.replace("_", "-"): value for name, value in fields.items()}
        request = urllib.request.Request(self.url + path, body, named, method=method)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.headers, answer.read()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.headers, error.read()


def glyphs_request(**members):
    """A request for the shipped network, in JSON."""
    image = {"name": "image", "shape": [1, 1, 32, 32], "datatype": "FP32", "data": [0.5] * 1024}
    return {"inputs": [image], **members}
