use gelu_core::Activation;

/// An activation's name as people write it; one that this build does not know, as it is.
pub fn label(name: &str) -> String {
    match name.parse::<Activation>() {
        Ok(activation) => activation.label().into_owned(),
        Err(_) => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_get_their_label_and_others_stay() {
        assert_eq!(label("gelu-tanh"), "GELU (tanh)");
        assert_eq!(label("mine"), "mine");
    }
}
