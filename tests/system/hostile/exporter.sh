# Clients of the exporter that are slow, silent, or send rubbish keep no scrape from its answer within ten seconds, after which
# Prometheus gives up.
. "$(dirname "$0")/../lib.sh"
cgpu-exporter --listen 127.0.0.1:0 >"$scratch/exporter.out" 2>"$scratch/exporter.err" &
exporter=$!
wait_for 10 has "$scratch/exporter.out" '/metrics$'
python3 -u - "$(sed -nE 's,.*:([0-9]+)/metrics,\1,p' "$scratch/exporter.out")" <<'P' || fail "a scrape got no answer"
import select, socket, sys, threading, time
port = int(sys.argv[1])

def connected(timeout=10):
    return socket.create_connection(("127.0.0.1", port), timeout=timeout)

# Alone it takes some milliseconds.
def scraped(timeout=10):
    with connected(timeout) as s:
        s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
        text, end = b"", time.monotonic() + timeout
        while time.monotonic() < end:
            part = s.recv(65536)
            if not part:
                break
            text += part
    assert text.startswith(b"HTTP/1.1 200 OK\r\n") and b"\ncgpud_up 1\n" in text, text[:200]

failed = []
def try_to(what, action):
    try:
        began = time.monotonic()
        action()
        print(f"{what}: {time.monotonic() - began:.2f} s")
    except Exception as error:
        failed.append(what)
        print(f"{what}: {error!r}")

try_to("alone", scraped)
for number in (4, 16, 64, 250):
    slow = []
    for _ in range(number):
        slow.append(connected())
        slow[-1].send(b"GET /met")
    try_to(f"beside {number} that have begun a request", scraped)
    for s in slow:
        s.close()

# Those who send a byte now and then, and come again as soon as they are cut off.
ends = threading.Event()
def drip(number):
    slow = {}
    while not ends.is_set():
        while len(slow) < number:
            s = connected()
            s.setblocking(False)
            slow[s.fileno()] = s
        for fd, s in list(slow.items()):
            try:
                s.send(b"G")
            except OSError:
                slow.pop(fd).close()
        ends.wait(0.1)
    for s in slow.values():
        s.close()
drippers = [threading.Thread(target=drip, args=(125,)) for _ in range(2)]
for each in drippers:
    each.start()
for i in range(5):
    try_to(f"beside 250 that send a byte now and then, {i + 1}", scraped)
    time.sleep(0.3)
ends.set()
for each in drippers:
    each.join()

# Those who ask and don't take the answer.
stuck = []
for _ in range(250):
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1024)
    s.connect(("127.0.0.1", port))
    s.sendall(b"GET /metrics HTTP/1.1\r\n\r\n")
    stuck.append(s)
try_to("beside 250 that don't take their answer", scraped)
for s in stuck:
    s.close()

for rubbish in (b"GET /../../etc/passwd HTTP/1.1\r\n\r\n", b"GET /metrics HTTP/1.1\r\nA: " + b"x" * 1000000 + b"\r\n\r\n",
                b"\0" * 100 + b"\r\n\r\n", b"POST /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n"):
    with connected() as s:
        try:
            s.sendall(rubbish)
            answer = s.recv(80)
        except ConnectionError:  # it need not take the rest of a megabyte
            answer = b""
        print(rubbish[:24], answer[:32])
        if answer.startswith(b"HTTP/1.1 200"):
            failed.append(rubbish[:24])
try_to("after rubbish", scraped)
sys.exit(1 if failed else 0)
P
kill -TERM $exporter
wait $exporter
expect_equal "exit status of the exporter" $? 0
