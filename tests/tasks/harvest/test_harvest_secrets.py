"""Secrets by kind, each with something harmless that looks like it. None is real: they are put together here."""

import string

import pytest

from rlsh.tasks.harvest import secret_in

LETTERS = "Zk3Xq9Lm2Vb7Rt5Wp8Yc4Nd6Hs1Jf0GaQe"  # 35 in no order

SECRETS = {
    "private key": ("-----BEGIN " + "RSA PRIVATE KEY-----", "-----BEGIN CERTIFICATE-----"),
    "AWS key": ("id = AKIA" + "ABCDEFGHIJKLMNOP", "id = AKIA" + "ABCDEFGH"),
    "GitHub token": ("ghp_" + "abcdefghij" * 4, "ghp_token"),
    "OpenAI or Anthropic key": ("sk-" + "proj-abcdefghijklmnopqrst", "task-list and sk-learn"),
    "Slack token": ("xoxb-" + "1234567890-abc", "xoxb-..."),
    "Google key": ("AIza" + "a" * 35, "AIza"),
    "Hugging Face token": ("hf_" + "abcdefghij" * 4, "hf_hub_download"),
    "JWT": (f"eyJ{'hbGciOiJI'}.eyJ{'zdWIiOiIx'}.abc", "eyJ is how they begin"),
    "password in a URL": ("postgres://ada:" + "hunter2@db/x", "postgres://ada:{password}@db/x"),
    "password or key in an assignment": ("password = 'hun" + "ter2'", "password = 'changeme'"),
    "e-mail address": ("write to ada@" + "lovelace.name", "write to ada@example.com, or use @cached.property"),
    "home directory": ("open('/home/" + "lovelace/x')", "open('/home/user/x')"),
    "public IP address": ("host 8.8." + "8.8", "host 192.168.1.7 or 192.0.2.1 or 127.0.0.1"),
    "high entropy": (f"key {LETTERS}", f"key {string.ascii_letters + string.digits}"),
}


@pytest.mark.parametrize("kind", SECRETS)
def test_a_secret_is_told_by_its_kind_and_from_its_harmless_twin(kind):
    secret, twin = SECRETS[kind]
    assert secret_in(f"x = 1\n{secret}\n") == kind
    assert secret_in(f"x = 1\n{twin}\n") is None
    assert secret not in kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ('{"pass' + 'wd": "hunter2"}', "password or key in an assignment"),
        ("API_" + "KEY='abcdefgh12'", "password or key in an assignment"),
        ("api_key='your-key-here'", None),
        ("password = ''", None),
        ("password = input('Password: ')", None),
        ("token = 'a b'", None),
        ("auth_token = 'two words here'", None),
        ("password = '{}'.format(x)", None),
        ("/Users/" + "lovelace/notes", "home directory"),
        (r"C:\Users" + r"\lovelace", "home directory"),
        ("2a00:1450:4001:" + "82a:200e", None),  # no whole address
        ("2a00:1450:4001:82a::" + "200e", "public IP address"),
        ("2001:db8:1:2::3", None),
        ("x[1:2:3:4]", None),
        ("version 1.2.3", None),
        ("d41d8cd98f00b204" + "e9800998ecf8427e", "high entropy"),
        ("0" * 40, None),
        ("1234567890" * 4, None),
        ("calculateTheTotalPriceOfEveryItem", None),
        ("https://example.org/a/b/Some-Title-Of-A-Page-2024", None),
        ("ssh git@" + "gitlab.com", "e-mail address"),
        ("admin@localhost, root@db.local", None),
    ],
)
def test_borderline(text, kind):
    assert secret_in(text) == kind
