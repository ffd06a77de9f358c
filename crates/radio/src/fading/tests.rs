use super::*;
use backlane_engine::Streams;

fn link(response: &Arc<FrequencyResponse>, index: usize) -> Fading {
    let name = format!("ue{index}");
    Fading::new(
        Arc::clone(response),
        &mut Streams::new(1).stream(&name, "fading"),
    )
}

#[test]
fn gains_depend_on_the_distance_alone() {
    let offsets = group_offsets_hz(100, 4, 180e3);
    let response = Arc::new(FrequencyResponse::new(FadingProfile::Eva, &offsets));
    let (mut often, mut seldom) = (link(&response, 1), link(&response, 1));
    for step in 0..1000 {
        let _ = often.gains(f64::from(step) * 0.1445);
    }
    assert_eq!(often.gains(123.456), seldom.gains(123.456));
    let later = seldom.gains(200.0).to_vec();
    let _ = seldom.gains(3.0);
    assert_eq!(seldom.gains(200.0), later);
    assert_eq!(later.len(), 25);
    assert_ne!(link(&response, 2).gains(200.0), later);
}
