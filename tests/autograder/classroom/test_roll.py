"""The roll's names, by which people tell students apart."""

from autograder.classroom.roll import Member, Roll


def roll(*members):
    return Roll(layout="plain", folder="class", has_roster=True, members=members, left_out=())


def test_two_students_of_one_name_are_told_apart_by_their_ids():
    first, second = Member(id="7", name="Anna Smith", key="7"), Member(id="8", name="Anna Smith", key="8")
    bob = Member(id="9", name="Bob", key="8")
    assert roll(first, second, bob).names() == {"7": "Anna Smith (7)", "8": "Anna Smith (8), Bob"}


def test_also_where_one_of_them_handed_in_nothing():
    first, second = Member(id="7", name="Anna Smith", key="7"), Member(id="8", name="Anna Smith")
    assert roll(first, second).names() == {"7": "Anna Smith (7)"}
