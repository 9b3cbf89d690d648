//! The status codes of gRPC. Each agrees with the status of HTTP that it is mapped to.

use super::{Row, Table, Verdict, row};

const ANSWERED: Verdict = Verdict::ANSWERED;
const RETRY: Verdict = Verdict::RETRY;
const TIMEOUT: Verdict = Verdict::TIMEOUT.again();

pub(super) static TABLE: Table = Table {
    rows: &ROWS,
    other: row(
        0,
        0,
        Verdict::FAILURE,
        "no code of gRPC: whatever answered does not speak it, and will not the next time",
    ),
    names: &NAMES,
    codes: 0..=16,
    legal: "a status code of gRPC, 0 to 16 or its name, such as NOT_FOUND",
};

static NAMES: [&str; 17] = [
    "OK",
    "CANCELLED",
    "UNKNOWN",
    "INVALID_ARGUMENT",
    "DEADLINE_EXCEEDED",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "FAILED_PRECONDITION",
    "ABORTED",
    "OUT_OF_RANGE",
    "UNIMPLEMENTED",
    "INTERNAL",
    "UNAVAILABLE",
    "DATA_LOSS",
    "UNAUTHENTICATED",
];

static ROWS: [Row; 17] = [
    row(0, 0, Verdict::SUCCESS, "OK: it did what was asked"),
    row(
        1,
        1,
        TIMEOUT,
        "CANCELLED: we are still here, so somebody on the way gave up waiting; timeouts of servers and channels arrive so",
    ),
    row(2, 2, RETRY, "UNKNOWN: it failed and does not say how"),
    row(3, 3, ANSWERED, "INVALID_ARGUMENT: the request is malformed"),
    row(4, 4, TIMEOUT, "DEADLINE_EXCEEDED: not done in time"),
    row(
        5,
        5,
        ANSWERED,
        "NOT_FOUND: there is no such thing, which it looked up",
    ),
    row(
        6,
        6,
        ANSWERED,
        "ALREADY_EXISTS: there is such a thing, which it looked up",
    ),
    row(
        7,
        7,
        ANSWERED,
        "PERMISSION_DENIED: the credentials do not allow it",
    ),
    row(
        8,
        8,
        RETRY,
        "RESOURCE_EXHAUSTED: it has enough of us for now",
    ),
    row(
        9,
        9,
        ANSWERED,
        "FAILED_PRECONDITION: its state does not allow it",
    ),
    row(
        10,
        10,
        ANSWERED.again(),
        "ABORTED: at odds with another change, which may be over in a moment",
    ),
    row(
        11,
        11,
        ANSWERED,
        "OUT_OF_RANGE: the request asks for what is not there",
    ),
    row(
        12,
        12,
        ANSWERED,
        "UNIMPLEMENTED: it knows that it does not do this",
    ),
    row(
        13,
        13,
        RETRY,
        "INTERNAL: it failed, and may not the next time",
    ),
    row(
        14,
        14,
        RETRY,
        "UNAVAILABLE: it is overloaded, down or not reachable",
    ),
    row(
        15,
        15,
        Verdict::FAILURE,
        "DATA_LOSS: what is lost does not come back in a moment",
    ),
    row(
        16,
        16,
        ANSWERED,
        "UNAUTHENTICATED: the credentials are missing or wrong",
    ),
];
