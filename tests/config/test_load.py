"""A config is right, or one message says everything that is wrong with it."""

from pathlib import Path

import jsonschema
import pytest

from mlbench.config import RunConfig
from mlbench.config.load import dotted_keys, load_config, presets
from mlbench.config.show import to_yaml
from mlbench.config.source import Origin
from mlbench.errors import ConfigError, ExitCode
from mlbench.vocabulary import Division

VALID = """\
data:
  path: data/x
  prepare: {sequence_length: 128, max_predictions: 20}
train:
  global_batch_size: 64
optimizer:
  training_steps: 100
"""


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    file = tmp_path / "c.yaml"
    file.write_text(VALID, "utf-8")
    return file


def problems(file: Path, text: str, *settings: str) -> list[str]:
    """The lines of the message that a config's text leads to, without the file's name."""
    file.write_text(text, "utf-8")
    with pytest.raises(ConfigError) as caught:
        load_config(str(file), settings)
    assert caught.value.exit_code is ExitCode.USAGE
    first, *rest = str(caught.value).splitlines()
    assert first.startswith(f"{file}: {len(rest)} problem")
    return [line.strip().removeprefix(f"{file}:") for line in rest]


def test_defaults_fill_a_minimal_config(config_file: Path) -> None:
    loaded = load_config(str(config_file))
    assert loaded.name == "c"
    assert loaded.config.train.global_batch_size == 64
    assert loaded.config.submission.division is Division.OPEN
    assert loaded.config.model.num_hidden_layers == 24


@pytest.mark.parametrize("number", ["1e-4", "4e-4", "0.0004", "4.0E-4", "1", "+.5"])
def test_numbers_in_common_notations_are_numbers(config_file: Path, number: str) -> None:
    loaded = load_config(str(config_file), [f"optimizer.learning_rate={number}"])
    assert loaded.config.optimizer.learning_rate == float(number)


TRAPS = {
    "unknown key": ("learnig_rate: 1", "optimizer", "unknown key; did you mean 'learning_rate'?"),
    "misplaced key": ("beta_1: 0.9", "train", "unknown key; it belongs at optimizer.beta_1"),
    "number as text": ('seed: "5"', "train", "is the text '5'; remove the quotes"),
    "yes for true": ("deterministic: yes", "train", "is the text 'yes'; write true"),
    "no for false": ("deterministic: no", "train", "is the text 'no'; write false"),
    "quoted boolean": ("deterministic: 'true'", "train", "is the text 'true'; write true"),
    "leading zero": ("seed: 010", "train", "010 begins with 0"),
    "negative leading zero": ("start_warmup_step: -07", "optimizer", "write -7"),
    "octal-like float": ("learning_rate: 00.5", "optimizer", "write 0.5"),
    "infinity": ("learning_rate: .inf", "optimizer", ".inf is not a finite number"),
    "overflow": ("learning_rate: 1e999", "optimizer", "1e999 is not a finite number"),
    "not a number": ("learning_rate: .nan", "optimizer", ".nan is not a finite number"),
    "float for int": ("max_steps: 3.0", "train", "must be an integer, is 3.0"),
    "bool for int": ("max_steps: true", "train", "must be an integer, is true"),
    "out of range": ("beta_1: 1.5", "optimizer", "must be less than 1, is 1.5"),
    "negative": ("warmup_steps: -1", "optimizer", "must be greater than or equal to 0, is -1"),
    "list for value": ("max_steps: [1]", "train", "must be an integer, is [1]"),
    "anchor": ("seed: &s 5", "train", "anchor '&s'; write each value where it applies"),
    "tag": ("seed: !!int 5", "train", "tag tag:yaml.org,2002:int; remove it"),
    "duplicate": ("seed: 1\n  seed: 2", "train", "train.seed: set twice, first in line"),
    "merge": ("<<: {seed: 1}", "train", "merge key '<<'"),
    "value missing": ("seed:\n  max_steps: x", "train", "must be an integer, is the text 'x'"),
}


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_named_with_its_line(config_file: Path, name: str) -> None:
    line, section, expected = TRAPS[name]
    text = VALID.replace(f"{section}:\n", f"{section}:\n  {line}\n")
    number = text.splitlines().index(f"  {line.splitlines()[0]}") + 1
    if name in ("duplicate", "value missing"):
        number += 1
    found = problems(config_file, text)
    assert len(found) == 1, found
    assert found[0].startswith(f"{number}: ")
    assert expected in found[0]


WHOLE_FILES = {
    "empty": ("", "the file is empty"),
    "only a comment": ("# nothing\n", "the file is empty"),
    "a list": ("- 1\n", "the file holds a list"),
    "a word": ("train\n", "the file holds the text 'train'"),
    "a tab": ("train:\n\tseed: 1\n", "a tab; indent with spaces"),
    "unclosed": ("train: [1\n", "not valid YAML"),
    "undefined alias": ("train: *x\n", "alias '*x'; write the value out"),
    "two documents": (VALID + "---\na: 1\n", "a second document begins here"),
    "directive": ("%YAML 1.1\n---\n" + VALID, "a YAML directive"),
    "NUL": ("a: \0\n", "special characters are not allowed"),
    "a key that is a list": (VALID + "? [1, 2]\n: 3\n", "a list as a key"),
}


@pytest.mark.parametrize("name", WHOLE_FILES)
def test_a_file_that_is_no_config_is_one_plain_error(config_file: Path, name: str) -> None:
    text, expected = WHOLE_FILES[name]
    assert expected in " ".join(problems(config_file, text))


def test_every_problem_of_a_file_is_in_one_message_by_line(config_file: Path) -> None:
    text = "modell: 1\n" + VALID.replace("64", '"64"').replace("100", "yes")
    found = problems(config_file, text, "train.sed=1", "optimizer.beta_1=2")
    assert [line.split(":")[0] for line in found[:3]] == ["1", "6", "8"]
    assert "did you mean 'model'" in found[0]
    assert any("train.sed: unknown key; did you mean 'seed'?" in line for line in found)
    assert any("optimizer.beta_1: must be less than 1" in line for line in found)
    assert len(found) == 5


def test_a_missing_key_without_default_is_named(config_file: Path) -> None:
    found = problems(config_file, VALID.replace("  training_steps: 100\n", "  beta_1: 0.5\n"))
    assert found == ["6: optimizer.training_steps: missing; it has no default"]


INCONSISTENT = {
    ("launch.nproc_per_node=2", "train.global_batch_size=255"): "nearest: 254 or 256",
    ("train.gradient_accumulation_steps=3",): "1 ranks x 3 accumulation steps = 3; nearest: 63",
    ("model.num_attention_heads=7",): "nearest: 4 or 8",
    ("data.prepare.sequence_length=512", "model.max_position_embeddings=128"): "512 tokens, but",
    ("data.prepare.max_predictions=128",): "128 masked tokens do not fit",
    ("optimizer.warmup_steps=101",): "101 is more than optimizer.training_steps 100",
    ("train.max_steps=101",): "where the learning rate has become 0",
    ("data.prepare.corpus=text",): "the text corpus needs at least one file",
    ("parallel.strategy=dta",): "unknown strategy 'dta'; did you mean 'data'?",
    ("launch.launcher=torch",): "unknown launcher 'torch'; did you mean 'torchrun'?",
    ("engine=nativ",): "unknown engine 'nativ'; did you mean 'native'?",
    ("benchmark=brt",): "unknown benchmark 'brt'; did you mean 'bert'?",
}


@pytest.mark.parametrize("settings", INCONSISTENT)
def test_values_that_contradict_each_other(config_file: Path, settings: tuple[str, ...]) -> None:
    with pytest.raises(ConfigError) as caught:
        load_config(str(config_file), settings)
    assert INCONSISTENT[settings] in str(caught.value)


def test_setting_wins_over_environment_over_file_over_default(config_file: Path) -> None:
    environment = {
        "MLBENCH_SET__TRAIN__GLOBAL_BATCH_SIZE": "32",
        "MLBENCH_SET__TRAIN__SEED": "1",
        "PATH": "/bin",
    }
    loaded = load_config(str(config_file), ["train.seed=2"], environment)
    assert loaded.config.train.global_batch_size == 32
    assert loaded.config.train.seed == 2
    assert str(loaded.origin(("train", "seed"))) == "--set"
    assert str(loaded.origin(("data", "path"))) == f"{config_file}:2"
    assert loaded.origin(("train", "deterministic")) == Origin("default")
    variable = "environment MLBENCH_SET__TRAIN__GLOBAL_BATCH_SIZE"
    assert str(loaded.origin(("train", "global_batch_size"))) == variable


def test_a_whole_section_can_be_set(config_file: Path) -> None:
    loaded = load_config(str(config_file), ["train={global_batch_size: 8}", "train.seed=4"])
    assert loaded.config.train.global_batch_size == 8
    assert loaded.config.train.seed == 4
    assert loaded.overrides()["train", "seed"] == 4


def test_an_unknown_variable_of_our_prefix_is_an_error(config_file: Path) -> None:
    with pytest.raises(ConfigError, match="MLBENCH_SET__TRAIN__SEEED: train.seeed: unknown key"):
        load_config(str(config_file), (), {"MLBENCH_SET__TRAIN__SEEED": "1"})


@pytest.mark.parametrize("setting", ["train.seed", "=1", ""])
def test_a_setting_without_key_or_value_is_an_error(config_file: Path, setting: str) -> None:
    with pytest.raises(ConfigError, match=r"expected a\.b=value"):
        load_config(str(config_file), [setting])


def test_a_setting_without_value_says_how_to_set_none(config_file: Path) -> None:
    with pytest.raises(ConfigError, match="train.seed: no value; write null for none"):
        load_config(str(config_file), ["train.seed="])


def test_a_config_that_does_not_exist_suggests_a_preset(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "bert-tiny.yaml").write_text(VALID, "utf-8")
    monkeypatch.chdir(tmp_path)
    assert load_config("bert-tiny").name == "bert-tiny"
    with pytest.raises(ConfigError, match="did you mean 'bert-tiny'"):
        load_config("bert-tny")


def test_a_file_that_is_not_utf8_names_the_byte(config_file: Path) -> None:
    config_file.write_bytes(b"data: \xff")
    with pytest.raises(ConfigError, match="not UTF-8 at byte 6"):
        load_config(str(config_file))


def test_what_show_prints_loads_to_the_same_config(config_file: Path) -> None:
    loaded = load_config(str(config_file), ["train.seed=3", "description='a: #b'"])
    for origins in (False, True):
        config_file.write_text(to_yaml(loaded, origins=origins), "utf-8")
        assert load_config(str(config_file)).config == loaded.config


def test_show_says_where_each_value_comes_from(config_file: Path) -> None:
    shown = to_yaml(load_config(str(config_file), ["train.seed=3"]), origins=True)
    assert "\n  seed: 3" in shown
    origins = {
        line.split(":")[0].strip(): line.split("# ", 1)[1]
        for line in shown.splitlines()
        if "# " in line
    }
    assert origins["global_batch_size"] == f"{config_file}:5"
    assert origins["deterministic"] == "default"


def test_the_schema_accepts_the_presets_and_refuses_a_typing_mistake() -> None:
    schema = RunConfig.model_json_schema()
    for file in presets():
        config = load_config(str(file)).config.model_dump(mode="json")
        jsonschema.validate(config, schema)
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({**config, "trian": {}}, schema)


def test_every_key_of_a_config_is_documented() -> None:
    sections = RunConfig.model_json_schema()["$defs"]
    undocumented = [
        f"{name}.{key}"
        for name, section in sections.items()
        for key, field in section.get("properties", {}).items()
        if "description" not in field
    ]
    assert undocumented == []


def test_dotted_keys_name_sections_and_values() -> None:
    keys = set(dotted_keys(RunConfig))
    assert {"train", "train.seed", "data.prepare.corpus"} <= keys
