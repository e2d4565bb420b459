//! A canonical text form of values, for digests. It does not depend on the formatting of any library.
//!
//! Every value has exactly one text: objects have their keys in byte order, strings have their length, whole numbers
//! are in decimal, and other numbers are the sixteen hexadecimal digits of their IEEE 754 double.

use serde::Serialize;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Returns the SHA-256 of a value's canonical form, in hexadecimal.
///
/// # Panics
///
/// Panics if the value cannot be serialised as plain data.
pub(super) fn digest(value: &impl Serialize) -> String {
    let value = serde_json::to_value(value).expect("the value holds plain data alone");
    let mut text = String::new();
    write(&value, &mut text);
    hex(&Sha256::digest(text))
}

/// Returns the bytes in hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn write(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push('n'),
        Value::Bool(true) => text.push('t'),
        Value::Bool(false) => text.push('f'),
        Value::Number(number) => match (number.as_i128(), number.as_f64()) {
            (Some(whole), _) => push(text, format_args!("i{whole};")),
            (None, Some(number)) => push(text, format_args!("d{:016x}", number.to_bits())),
            (None, None) => unreachable!("numbers are whole or doubles"),
        },
        Value::String(string) => push(text, format_args!("s{}:{string}", string.len())),
        Value::Array(items) => {
            text.push('[');
            items.iter().for_each(|item| write(item, text));
            text.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by(|a, b| a.0.as_bytes().cmp(b.0.as_bytes()));
            text.push('{');
            for (key, value) in fields {
                push(text, format_args!("s{}:{key}", key.len()));
                write(value, text);
            }
            text.push('}');
        }
    }
}

fn push(text: &mut String, piece: std::fmt::Arguments<'_>) {
    text.write_fmt(piece).expect("writing to memory cannot fail");
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The result of the same rules in eleven lines of Python:
    ///
    /// ```python
    /// import hashlib, struct
    /// def form(v):
    ///     if v is None: return "n"
    ///     if isinstance(v, bool): return "t" if v else "f"
    ///     if isinstance(v, int): return f"i{v};"
    ///     if isinstance(v, float): return "d" + struct.pack(">d", v).hex()
    ///     if isinstance(v, str): return f"s{len(v.encode())}:{v}"
    ///     if isinstance(v, list): return "[" + "".join(map(form, v)) + "]"
    ///     keys = sorted(v, key=str.encode)
    ///     return "{" + "".join(f"s{len(k.encode())}:{k}" + form(v[k]) for k in keys) + "}"
    /// v = {"b": [1, -2, 0.1, 1.0, True, None], "a": "ä", "c": {"z": False, "y": 18446744073709551615}}
    /// print(hashlib.sha256(form(v).encode()).hexdigest())
    /// ```
    const OF_PYTHON: &str = "64ceed9f0c2e891617dc697d03ae877d0028fd08549164a9b27cb9ce8b187cc9";

    #[test]
    fn digest_is_that_of_another_program() {
        let value = json!({
            "b": [1, -2, 0.1, 1.0, true, null],
            "a": "ä",
            "c": {"z": false, "y": u64::MAX},
        });
        assert_eq!(digest(&value), OF_PYTHON);
    }

    #[test]
    fn order_of_fields_says_nothing_and_every_value_counts() {
        #[derive(Serialize)]
        struct One {
            a: f32,
            b: Option<u8>,
        }
        #[derive(Serialize)]
        struct Other {
            b: Option<u8>,
            a: f32,
        }
        let base = digest(&One { a: 0.1, b: None });
        assert_eq!(base, digest(&Other { b: None, a: 0.1 }));
        assert_ne!(base, digest(&One { a: 0.1, b: Some(0) }));
        assert_ne!(base, digest(&One { a: 0.1_f32.next_up(), b: None }));
        assert_ne!(digest(&json!(["ab", "c"])), digest(&json!(["a", "bc"])));
        assert_ne!(digest(&json!(1)), digest(&json!(1.0)));
    }
}
