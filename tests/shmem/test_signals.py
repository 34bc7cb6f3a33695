from hipgraph_shmem.shmem import Comparison, SignalOp


def test_numbers_are_those_of_rocshmem_and_not_nvshmems():
    assert {each.name: each.value for each in SignalOp} == {"SET": 0, "ADD": 1}
    assert {each.name: each.value for each in Comparison} == {
        "EQ": 0, "NE": 1, "GT": 2, "GE": 3, "LT": 4, "LE": 5,
    }  # fmt: skip
