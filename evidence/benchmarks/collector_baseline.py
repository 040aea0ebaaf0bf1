"""What a user might write instead of the collector: FastAPI, SQLAlchemy and SQLite, one row a report.

Run by the Python of the peers' environment, with a style and the database's path. A report is a row, its id is unique,
a request is a commit that is on disk before the answer; a report sent twice is acknowledged again. It judges no report
and counts none. `plain` is as the tutorials of the three have it; `tuned` has a write-ahead log and one INSERT a batch.
Both have uvloop and httptools.
"""

from __future__ import annotations

import socket
import sys

import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel
from sqlalchemy import LargeBinary, create_engine, event, select
from sqlalchemy.dialects.sqlite import insert
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column


class Base(DeclarativeBase):
    """The tables."""


class Row(Base):
    """A report."""

    __tablename__ = "reports"

    id: Mapped[bytes] = mapped_column(LargeBinary(16), primary_key=True)
    report: Mapped[str]


class Report(BaseModel):
    """A report as JSON."""

    id: str
    report: str


class Reports(BaseModel):
    """Many."""

    reports: list[Report]


TUNED = sys.argv[1] == "tuned"

engine = create_engine(f"sqlite:///{sys.argv[2]}", connect_args={"timeout": 30})
app = FastAPI()


@event.listens_for(engine, "connect")
def _settings(connection, _):  # type: ignore[no-untyped-def]
    if TUNED:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")


def _keep(reports: list[Report]) -> dict[str, int]:
    with Session(engine) as session:
        if TUNED:
            rows = [{"id": bytes.fromhex(one.id), "report": one.report} for one in reports]
            session.execute(insert(Row).on_conflict_do_nothing(), rows)
        else:
            session.add_all(_unknown(session, reports))
        session.commit()
    return {"accepted": len(reports)}


def _unknown(session: Session, reports: list[Report]) -> list[Row]:
    """Rows of those that are not there yet."""
    asked = {bytes.fromhex(one.id): one.report for one in reports}
    known = set(session.scalars(select(Row.id).where(Row.id.in_(asked))))
    return [Row(id=name, report=report) for name, report in asked.items() if name not in known]


@app.post("/report")
def take(report: Report) -> dict[str, int]:
    """One."""
    return _keep([report])


@app.post("/reports")
def take_many(batch: Reports) -> dict[str, int]:
    """Many."""
    return _keep(batch.reports)


if __name__ == "__main__":
    Base.metadata.create_all(engine)
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run([listener])
