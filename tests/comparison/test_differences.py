"""Which settings differ, and the pair in which one alone does."""

from __future__ import annotations

from explorer.comparison.differences import differences, isolated, same_but_sources, with_taken
from explorer.decoding.params import Settings

WARM = Settings().with_sampling("preset", temperature=1.2, top_p=0.9).with_stopping(max_new_tokens=20)
COLD = Settings().with_sampling(temperature=0.7, top_k=5).with_stopping(max_new_tokens=20, stop_strings=("x",))


def test_every_difference_is_named_in_the_order_of_the_chain() -> None:
    found = [(one.name, one.kind, one.a, one.b) for one in differences(WARM, COLD)]
    assert found == [
        ("temperature", "sampling", 1.2, 0.7),
        ("top_k", "sampling", 0, 5),
        ("top_p", "sampling", 0.9, 1.0),
        ("stop_strings", "stopping", (), ("x",)),
    ]
    assert differences(WARM, WARM) == ()


def test_where_a_value_came_from_is_no_difference() -> None:
    other = Settings().with_sampling("user", temperature=1.2, top_p=0.9).with_stopping(max_new_tokens=20)
    assert other != WARM
    assert differences(WARM, other) == ()
    assert same_but_sources(WARM, other)


def test_the_order_differs_only_where_it_matters() -> None:
    assert [one.name for one in differences(WARM, WARM.with_order("llama.cpp"))] == ["order"]  # C06
    only_top_p = Settings().with_sampling(top_p=0.9)
    assert differences(only_top_p, only_top_p.with_order("llama.cpp")) == ()


def test_isolating_one_leaves_the_others_as_they_are() -> None:
    for one in differences(WARM, COLD):
        a, b = isolated(WARM, COLD, one.name)
        assert a == WARM
        assert [(left.name, left.b) for left in differences(a, b)] == [(one.name, one.b)]
    everything = with_taken(WARM, COLD, [one.name for one in differences(WARM, COLD)])
    assert same_but_sources(everything, COLD)
    a, b = isolated(WARM, WARM.with_order("llama.cpp"), "order")
    assert [one.name for one in differences(a, b)] == ["order"]
