"""Roles guessed from names, types and how often values repeat; every guess says why, a person decides."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from sudare.data.dataset import Dataset

# Words that column names are made of, by the role they speak for.
PERSON = set(
    "user users uid userid customer customers customerid client clients patient patients person "
    "persons people member members account subject participant respondent household employee student "
    "citizen passenger driver visitor cardholder pid 顧客 会員 利用者 患者 氏名番号".split()
)
DIRECT = set(
    "name names firstname lastname surname forename fullname nickname username login email mail phone "
    "tel telephone mobile fax ssn passport licence license iban bic pan card street address ip mac url "
    "website photo signature imei vin plate invoice receipt ticket order uuid guid 氏名 名前 住所 電話 "
    "メール".split()
)
KNOWN = set(
    "age sex gender birth birthday birthdate dob born zip zipcode postcode postal plz city town "
    "village county state province region country district nationality race ethnicity language "
    "education school degree marital married relationship family children occupation job profession "
    "workclass employer industry title height weight date day month year time hour timestamp visit "
    "admission discharge place location lat lon latitude longitude goods product item shop store "
    "merchant 年齢 性別 生年月日 郵便番号 都道府県 市区町村 職業 学歴 国籍 日付 時刻 商品".split()
)
SECRET = set(
    "disease diagnosis diag icd illness condition symptom hiv cancer medication drug prescription "
    "treatment lab result religion faith politics party union orientation income salary wage wages pay "
    "earnings revenue debt loan credit balance wealth tax score grade mark criminal conviction offence "
    "arrest rating opinion medical exp expense expenditure spending amount cost gain loss 病名 疾患 "
    "診断 薬 収入 年収 給与 宗教 成績".split()
)
CODE = {"id", "no", "nr", "nbr", "num", "number", "code", "key", "番号"}


@dataclass(frozen=True)
class Guess:
    """A guessed role and the reason, in words that quote no cell."""

    column: str
    type: str
    role: str
    why: str
    values: int
    missing: int


def guess_roles(ds: Dataset) -> tuple[Guess, ...]:
    """A role for every column of a table.

    >>> import sudare
    >>> [g.role for g in guess_roles(sudare.open("example:patients"))]
    ['identifier', 'quasi', 'quasi', 'identifier', 'quasi', 'sensitive']
    """
    columns = profile(ds)
    user = _user_column(columns, ds.rows)
    return tuple(_guess(column, ds.rows, user) for column in columns)


@dataclass(frozen=True)
class ColumnProfile:
    """What counts alone tell of a column."""

    name: str
    words: frozenset[str]
    type: str
    kind: str
    values: int
    missing: int
    span: float


def profile(ds: Dataset) -> list[ColumnProfile]:
    """One aggregate query: how many distinct and missing values each column has."""
    import pyarrow as pa

    table = ds.table
    counts: dict[str, Any] = {}
    for place, name in enumerate(ds.columns):
        counts[f"d{place}"] = table[name].nunique()
        counts[f"n{place}"] = table[name].count()
        if pa.types.is_integer(ds.schema.field(name).type):
            counts[f"s{place}"] = table[name].max().cast("float64") - table[name].min().cast("float64")
    found = table.aggregate(**counts).to_pyarrow().to_pylist()[0]
    return [
        ColumnProfile(
            name=name,
            words=words_of(name),
            type=str(field.type),
            kind=_kind(field.type),
            values=int(found[f"d{place}"]),
            missing=ds.rows - int(found[f"n{place}"]),
            span=float(found.get(f"s{place}") or 0.0),
        )
        for place, (name, field) in enumerate(zip(ds.columns, ds.schema))
    ]


def words_of(name: str) -> frozenset[str]:
    """The words of a column name.

    >>> sorted(words_of("CustomerID")), sorted(words_of("home_zip-code"))
    (['customer', 'id'], ['code', 'home', 'zip'])
    """
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ", name)
    words = [word.lower() for word in re.split(r"[\W_]+|(?<=\D)(?=\d)|(?<=\d)(?=\D)", spaced) if word]
    return frozenset(words) | {word[:-1] for word in words if word.endswith("s") and len(word) > 4}


def _kind(type_: pa.DataType) -> str:
    import pyarrow as pa

    if pa.types.is_integer(type_):
        return "integer"
    if pa.types.is_floating(type_) or pa.types.is_decimal(type_):
        return "number"
    return "date" if pa.types.is_temporal(type_) else "text"


def _user_column(columns: list[ColumnProfile], rows: int) -> str | None:
    """The person key: named like one, and people come back (some value has several rows)."""
    named = [c for c in columns if _is_person(c) and 1 < c.values < rows]
    return (
        max(named, key=lambda c: (bool(c.words & CODE) or len(c.words) == 1, c.values)).name
        if named
        else None
    )


def _is_person(column: ColumnProfile) -> bool:
    rest = column.words - PERSON - CODE
    return bool(column.words & PERSON) and not rest


def _guess(column: ColumnProfile, rows: int, user: str | None) -> Guess:
    role, why = _role(column, rows, user)
    return Guess(column.name, column.type, role, why, column.values, column.missing)


def _role(column: ColumnProfile, rows: int, user: str | None) -> tuple[str, str]:
    share = column.values / max(rows - column.missing, 1)
    if column.name == user:
        return "user", f"named like a person key, and people come back: {rows / column.values:.3g} rows each"
    if column.values <= 1:
        return "other", "the same value everywhere: it tells nobody apart"
    if _is_person(column) or _direct(column):
        return "identifier", "named like something that points to one person or document"
    if column.words & SECRET:
        return "sensitive", f"named like something people want kept to themselves ('{_hit(column, SECRET)}')"
    if column.words & KNOWN:
        return "quasi", f"others may know it about a person ('{_hit(column, KNOWN)}')"
    if share == 1 and rows >= 20 and (column.kind == "text" or _numbered(column, rows)):
        return "identifier", "every row has a value of its own"
    if column.kind == "text" and share > 0.9 and rows >= 20:
        return "identifier", f"free text or a code: {share:.0%} of the rows have a value of their own"
    if column.kind in ("integer", "number") and share > 0.5 and column.values >= 20:
        return "sensitive", "a measured amount, almost different in every row"
    return "quasi", "nothing says that others cannot know it"


def _numbered(column: ColumnProfile, rows: int) -> bool:
    """Whole numbers that count rows or are called a number of something; amounts are neither."""
    return column.kind == "integer" and (bool(column.words & CODE) or column.span < 2 * rows)


def _direct(column: ColumnProfile) -> bool:
    hit = column.words & DIRECT
    return bool(hit) and not column.words & (
        KNOWN | {"size", "type", "count", "status"} if hit != {"address"} else set()
    )


def _hit(column: ColumnProfile, words: set[str]) -> str:
    return sorted(column.words & words)[0]
