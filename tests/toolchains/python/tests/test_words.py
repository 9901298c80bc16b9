import multiprocessing
import subprocess
import sys
import tempfile
import threading

from words import count_words


def test_runs_in_the_virtual_environment():
    assert sys.prefix != sys.base_prefix


def send(connection, text):
    connection.send(count_words(text))


def test_in_another_process():
    ours, theirs = multiprocessing.Pipe()
    process = multiprocessing.Process(target=send, args=(theirs, "three small words"))
    process.start()
    assert ours.recv() == 3
    process.join()


def test_in_a_thread():
    found = []
    thread = threading.Thread(target=lambda: found.append(count_words("two words")))
    thread.start()
    thread.join()
    assert found == [2]


def test_a_program_and_a_temporary_file(tmp_path):
    with tempfile.NamedTemporaryFile() as file:
        file.write(b"one")
    (tmp_path / "script.py").write_text("print('from a child')")
    out = subprocess.run([sys.executable, tmp_path / "script.py"], capture_output=True, check=True)
    assert out.stdout == b"from a child\n"
