"""Web sites on this machine, for what the course fetches."""
import contextlib
import http.server
import threading
from functools import partial


@contextlib.contextmanager
def serve(handler, **options):
    """The address of a site that answers as a BaseHTTPRequestHandler does, made with these options; it is there in the block."""
    quiet = type("Quiet", (handler,), {"log_message": lambda *args: None})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(quiet, **options)) as server:
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
