use gelu_learner::activation::NamedActivation;

/// An activation's name as people write it, a formula's without the formula; one that this program
/// does not know, as it is.
pub fn label(name: &str) -> String {
    NamedActivation::read(name).label().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_get_their_label_and_others_stay() {
        assert_eq!(label("gelu-tanh"), "GELU (tanh)");
        assert_eq!(label("mine"), "mine");
        assert_eq!(label("mine=x*tanh(x)"), "mine");
    }
}
