"""Keys and certificates for one test run, made on the spot by the openssl program; nothing of them is kept."""

import os
import shutil
import ssl
import subprocess
import tempfile


class Certificates:
    """A folder with an authority and what it signed: server.crt, client.crt, and their keys."""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="sorrel-tls-")
        self._make("ca", ["-addext", "basicConstraints=critical,CA:TRUE"])
        self.sign("server", "127.0.0.1", "subjectAltName=IP:127.0.0.1,DNS:localhost")
        self.sign("client", "client")

    def path(self, name):
        return os.path.join(self.folder, name)

    def sign(self, name, common_name, extension="basicConstraints=CA:FALSE"):
        """NAME.crt and NAME.key for somebody called common_name."""
        signer = ["-CA", self.path("ca.crt"), "-CAkey", self.path("ca.key")]
        self._make(name, ["-addext", extension, *signer], common_name)

    def _make(self, name, more, common_name=None):
        command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
        command += ["-days", "2", "-subj", f"/CN={common_name or name}"]
        command += ["-keyout", self.path(name + ".key"), "-out", self.path(name + ".crt"), *more]
        subprocess.run(command, check=True, capture_output=True, timeout=60)

    def server_options(self):
        return [
            ("tls-cert-file", self.path("server.crt")),
            ("tls-key-file", self.path("server.key")),
            ("tls-ca-cert-file", self.path("ca.crt")),
        ]

    def client_context(self, name="client"):
        """For ssl.wrap_socket; with None the client shows no certificate."""
        context = ssl.create_default_context(cafile=self.path("ca.crt"))
        if name:
            context.load_cert_chain(self.path(name + ".crt"), self.path(name + ".key"))
        return context

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)
