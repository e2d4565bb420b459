use crate::{Error, Result};
use burn::tensor::Tensor;
use gelu_core::Activation;
use std::sync::{PoisonError, RwLock};

/// The registered activations. They are global because recipes and run folders name activations by text.
static REGISTERED: RwLock<Vec<Activation>> = RwLock::new(Vec::new());

/// Registers a differentiable elementwise function under `name`, for the command line, recipes and run folders of
/// this process. The function gets a flattened tensor and must return a tensor of the same length.
///
/// A run's identity contains only the name. If you change the function, change its name too; otherwise the program
/// takes runs of the old function for runs of the new one.
///
/// # Errors
///
/// [`Error::Usage`] if the name is taken or invalid. A valid name is a letter, then letters, digits, `-` and `_`, at
/// most 32 characters.
pub fn register(
    name: &str,
    function: impl Fn(Tensor<1>) -> Tensor<1> + Send + Sync + 'static,
) -> Result<()> {
    check_name(name)?;
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if registered.iter().any(|known| known.name() == name) {
        return Err(Error::Usage(format!("the activation `{name}` is registered already")));
    }
    registered.push(Activation::custom(name, function));
    Ok(())
}

/// Returns the registered activation called `name`.
pub(super) fn find(name: &str) -> Option<Activation> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    registered.iter().find(|known| known.name() == name).cloned()
}

/// Returns the names of the registered activations.
pub(super) fn names() -> Vec<String> {
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    registered.iter().map(|known| known.name().into_owned()).collect()
}

/// Returns whether `name` is short and simple enough for the name of a folder.
pub(super) fn is_name(name: &str) -> bool {
    name.len() <= 32
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_')
}

/// Checks that `name` can name a user-defined activation.
pub(super) fn check_name(name: &str) -> Result<()> {
    if !is_name(name) {
        return Err(Error::Usage(format!(
            "`{}` cannot name an activation; a name is a letter, then letters, digits, - and _, at \
             most 32 of them",
            name.escape_debug()
        )));
    }
    match name.parse::<Activation>() {
        Ok(built_in) => Err(Error::Usage(format!(
            "`{name}` already names an activation, {}; give yours another name",
            built_in.label()
        ))),
        Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_once() {
        register("registry-test", |x| x * 2.0).unwrap();
        assert!(find("registry-test").is_some());
        let again = register("registry-test", |x| x).unwrap_err().to_string();
        assert!(again.contains("registered already"), "{again}");
        for (name, expected) in [
            ("gelu", "already names an activation, GELU"),
            ("SWISH", "already names an activation, SiLU"),
            ("", "cannot name"),
            ("2x", "cannot name"),
            ("a/b", "cannot name"),
            ("a b", "cannot name"),
            ("a-name-that-is-longer-than-thirty-two", "cannot name"),
        ] {
            let error = register(name, |x| x).unwrap_err().to_string();
            assert!(error.contains(expected), "{name}: {error}");
        }
    }
}
