"""Writes the drawings of the lessons, notebooks/images/NN_name.svg."""
import argparse
import pathlib

from tools.drawings import (
    lesson_00,
    lesson_01,
    lesson_02,
    lesson_03,
    lesson_04,
    lesson_05,
    lesson_06,
    lesson_07,
    lesson_08,
    lesson_09,
    lesson_10,
    lesson_11,
    lesson_12,
    lesson_13,
    lesson_14,
    lesson_15,
    lesson_16,
    lesson_17,
)

IMAGES = pathlib.Path(__file__).resolve().parents[2] / "notebooks" / "images"
DRAWINGS = {
    "00_look": lesson_00.look,
    "00_map": lesson_00.course,
    "01_query_among_points": lesson_01.query_among_points,
    "02_four_scores": lesson_02.four_scores,
    "02_broadcast": lesson_02.broadcast,
    "02_wanted_keys": lesson_02.wanted_keys,
    "03_masks": lesson_03.masks,
    "04_recurrent_step": lesson_04.recurrent_step,
    "04_encoder_decoder": lesson_04.encoder_decoder,
    "04_attention_between": lesson_04.attention_between,
    "05_scaled_dot_product": lesson_05.scaled_dot_product,
    "05_multi_head": lesson_05.multi_head,
    "06_clock_hands": lesson_06.clock_hands,
    "06_clock_offset": lesson_06.clock_offset,
    "06_schemes": lesson_06.schemes,
    "07_transformer": lesson_07.transformer,
    "07_cache": lesson_07.cached_step,
    "08_text_to_answer": lesson_08.text_to_answer,
    "09_beam": lesson_09.beam,
    "10_classifier": lesson_10.classifier,
    "11_small_gpt": lesson_11.gpt,
    "11_induction": lesson_11.induction,
    "12_prompt_and_rule": lesson_12.prompt_and_rule,
    "12_position_or_content": lesson_12.position_or_content,
    "13_bert": lesson_13.bert,
    "13_heads": lesson_13.heads,
    "13_input": lesson_13.bert_input,
    "14_pretraining": lesson_14.pretraining,
    "15_heads": lesson_15.heads,
    "16_ablation": lesson_16.ablation,
    "16_gap": lesson_16.gap,
    "16_origin": lesson_16.origin,
    "17_blocks": lesson_17.blocks,
    "17_kept": lesson_17.kept,
    "17_processes": lesson_17.processes,
    "17_step": lesson_17.step,
}


def write(folder):
    """Write every drawing into the folder."""
    for name, draw in DRAWINGS.items():
        (folder / f"{name}.svg").write_text(draw().svg(), encoding="utf-8", newline="\n")


if __name__ == "__main__":
    argparse.ArgumentParser(prog="python -m tools.drawings", description=__doc__).parse_args()
    write(IMAGES)
