"""An extension of Jupyter's server: what the kernel answers reaches the page at once.

Unless it is told otherwise, a TCP connection keeps small messages back until the one before is acknowledged (Nagle's
algorithm, RFC 896), and Linux acknowledges up to 40 ms late. Jupyter's server leaves that as it is, so a slider waited for it.
"""


def _jupyter_server_extension_points() -> list[dict]:
    return [{"module": "helpers.jupyter"}]


def _load_jupyter_server_extension(server) -> None:
    """Turn Nagle's algorithm off in every connection between a page and a kernel."""
    settings = server.web_app.settings

    class PromptConnection(settings["kernel_websocket_connection_class"]):
        def connect(self):
            self.websocket_handler.set_nodelay(True)
            return super().connect()

    settings["kernel_websocket_connection_class"] = PromptConnection
