//! The statuses of HTTP.

use super::{Row, Table, Verdict, row};

const SUCCESS: Verdict = Verdict::SUCCESS;
const ANSWERED: Verdict = Verdict::ANSWERED;
const FAILURE: Verdict = Verdict::FAILURE;
const RETRY: Verdict = Verdict::RETRY;
const TIMEOUT: Verdict = Verdict::TIMEOUT.again();

pub(super) static TABLE: Table = Table {
    rows: &ROWS,
    other: row(
        0,
        0,
        FAILURE,
        "no status of HTTP: whatever answered does not speak it, and will not the next time",
    ),
    names: &[],
    codes: 100..=999,
    legal: "a status of HTTP, 100 to 999",
};

static ROWS: [Row; 46] = [
    row(
        100,
        199,
        SUCCESS,
        "it is at work on an answer, or changes the protocol",
    ),
    row(200, 299, SUCCESS, "it did what was asked"),
    row(
        300,
        399,
        SUCCESS,
        "it says where the answer is; following is the client's part",
    ),
    row(400, 400, ANSWERED, "the request is malformed"),
    row(401, 401, ANSWERED, "the credentials are missing or wrong"),
    row(402, 402, ANSWERED, "the account has to be paid for"),
    row(403, 403, ANSWERED, "the credentials do not allow it"),
    row(
        404,
        404,
        ANSWERED,
        "there is no such thing, which it looked up",
    ),
    row(
        405,
        406,
        ANSWERED,
        "the method, or the form of the answer, is not offered",
    ),
    row(407, 407, ANSWERED, "the proxy wants credentials"),
    row(
        408,
        408,
        TIMEOUT,
        "a server that gave up waiting, mostly for its own handler: timeout layers answer so",
    ),
    row(
        409,
        409,
        ANSWERED.again(),
        "it is at odds with another change, which may be over in a moment",
    ),
    row(
        410,
        412,
        ANSWERED,
        "gone, or the request lacks a length, or its condition does not hold",
    ),
    row(
        413,
        413,
        ANSWERED.waiting(),
        "the request is too large, perhaps only now",
    ),
    row(
        414,
        420,
        ANSWERED,
        "the request asks for what it does not do",
    ),
    row(
        421,
        421,
        ANSWERED.again(),
        "the connection led to a server that is not meant; another may not",
    ),
    row(
        422,
        424,
        ANSWERED,
        "the request is understood and cannot be carried out",
    ),
    row(
        425,
        425,
        ANSWERED.again().waiting(),
        "it was sent too early in the handshake; a moment later it may pass",
    ),
    row(
        426,
        428,
        ANSWERED,
        "the request lacks what it requires: a protocol, a condition",
    ),
    row(
        429,
        429,
        RETRY,
        "it has enough of us for now: calling on makes it worse",
    ),
    row(
        430,
        498,
        ANSWERED,
        "the request is at fault, by the class of the status",
    ),
    row(
        499,
        499,
        TIMEOUT,
        "somebody on the way closed the request; we are still here, so it gave up waiting",
    ),
    row(500, 500, RETRY, "it failed, and may not the next time"),
    row(501, 501, ANSWERED, "it knows that it does not do this"),
    row(502, 502, RETRY, "a proxy got nothing usable from behind it"),
    row(503, 503, RETRY, "it is overloaded or down for a time"),
    row(
        504,
        504,
        TIMEOUT,
        "a proxy waited in vain for what is behind it",
    ),
    row(
        505,
        505,
        ANSWERED,
        "it knows that it does not speak this version",
    ),
    row(506, 506, FAILURE, "its own configuration is broken"),
    row(
        507,
        508,
        FAILURE,
        "out of storage, or in a loop: not over in a moment",
    ),
    row(509, 509, FAILURE, "its quota of bandwidth is used up"),
    row(510, 510, ANSWERED, "the request lacks an extension"),
    row(
        511,
        511,
        FAILURE,
        "a portal of the network answers in its place",
    ),
    row(
        512,
        519,
        FAILURE,
        "the server is at fault, by the class of the status",
    ),
    row(
        520,
        521,
        RETRY,
        "the proxy of a content network found it down or incomprehensible",
    ),
    row(522, 522, TIMEOUT, "the same: no connection in time"),
    row(523, 523, RETRY, "the same: not reachable"),
    row(
        524,
        524,
        TIMEOUT,
        "the same: connected, and no answer in time",
    ),
    row(
        525,
        526,
        FAILURE,
        "the same: its certificate or handshake is wrong",
    ),
    row(527, 527, RETRY, "the same: the link broke"),
    row(
        528,
        528,
        FAILURE,
        "the server is at fault, by the class of the status",
    ),
    row(
        529,
        529,
        RETRY,
        "it is overloaded (several providers of models)",
    ),
    row(
        530,
        530,
        FAILURE,
        "the proxy of a content network cannot resolve it",
    ),
    row(
        531,
        597,
        FAILURE,
        "the server is at fault, by the class of the status",
    ),
    row(598, 598, TIMEOUT, "a proxy read nothing in time"),
    row(599, 599, TIMEOUT, "a proxy could not connect in time"),
];
