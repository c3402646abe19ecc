"""The extension of Jupyter's server: it is found, and a page's connection to a kernel keeps nothing back."""
from types import SimpleNamespace

from jupyter_core.paths import jupyter_config_path
from jupyter_server.extension.config import ExtensionConfigManager
from jupyter_server.extension.manager import ExtensionManager


class Connection:
    def __init__(self, said):
        self.said, self.websocket_handler = said, SimpleNamespace(set_nodelay=lambda value: said.append(("nodelay", value)))

    def connect(self):
        self.said.append("connect")
        return "connected"


def test_the_server_finds_the_extension():
    enabled = ExtensionConfigManager(read_config_path=jupyter_config_path()).get_jpserver_extensions()
    assert enabled.get("helpers.jupyter") is True


def test_a_connection_sends_at_once():
    server = SimpleNamespace(web_app=SimpleNamespace(settings={"kernel_websocket_connection_class": Connection}), serverapp=None)
    manager = ExtensionManager(serverapp=server)
    manager.add_extension("helpers.jupyter", enabled=True)
    manager.extensions["helpers.jupyter"].load_all_points(server)
    said = []
    connection = server.web_app.settings["kernel_websocket_connection_class"](said)
    assert connection.connect() == "connected" and said == [("nodelay", True), "connect"]
