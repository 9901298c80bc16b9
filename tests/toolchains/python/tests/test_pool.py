import multiprocessing
from multiprocessing import shared_memory

from words import count_words


def test_in_a_pool():
    with multiprocessing.Pool(2) as pool:
        assert pool.map(count_words, ["one", "two words"]) == [1, 2]


def test_in_a_pool_of_spawned_processes():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(count_words, ["one"]) == [1]


def test_shared_memory():
    memory = shared_memory.SharedMemory(create=True, size=16)
    memory.buf[0] = 7
    same = shared_memory.SharedMemory(memory.name)
    assert same.buf[0] == 7
    same.close()
    memory.close()
    memory.unlink()
