"""The manifests: valid by the schemas of Kubernetes, locked up, and true of how several services work together."""

from __future__ import annotations

from typing import Any

import pytest
import yaml

from deploy.files import DEPLOY, image_environment, manifests, outward_paths, pods
from sottovoce.cli.parser import build_parser
from sottovoce.collector.app import ROUTES
from sottovoce.collector.settings import Settings
from sottovoce.relay.settings import RelaySettings
from sottovoce.service.http.openapi import openapi_document

FOLDERS = ("collector", "relay")
EXAMPLE = yaml.safe_load((DEPLOY / "kubernetes" / "collector" / "secret.example.yaml").read_text("utf-8"))
EVERY = [*((folder, one) for folder in FOLDERS for one in manifests(folder)), ("collector", EXAMPLE)]
PODS = [(folder, name) for folder in FOLDERS for name in pods(folder)]


def kinds(folder: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for one in manifests(folder):
        found.setdefault(one["kind"], []).append(one)
    return found


@pytest.mark.parametrize("manifest", EVERY, ids=lambda one: f"{one[0]} {one[1]['kind']} {one[1]['metadata']['name']}")
def test_a_manifest_is_valid(manifest: tuple[str, dict[str, Any]]) -> None:
    import kubernetes_validate as validate

    validate.validate(manifest[1], validate.latest_version(), strict=True)


def test_the_schemas_refuse_a_wrong_word() -> None:
    import kubernetes_validate as validate

    (wrong,) = kinds("collector")["StatefulSet"]
    wrong["spec"]["template"]["spec"]["securityContext"]["runAsNoneRoot"] = True
    with pytest.raises(validate.ValidationError):
        validate.validate(wrong, validate.latest_version(), strict=True)


def test_every_file_is_applied_but_the_example() -> None:
    for folder in FOLDERS:
        place = DEPLOY / "kubernetes" / folder
        listed = yaml.safe_load((place / "kustomization.yaml").read_text("utf-8"))["resources"]
        apart = {"kustomization.yaml", "secret.example.yaml"}
        assert sorted(listed) == sorted({file.name for file in place.iterdir()} - apart)
        (namespace,) = kinds(folder)["Namespace"]
        assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"


@pytest.mark.parametrize(("folder", "name"), PODS)
def test_every_container_is_locked_up(folder: str, name: str) -> None:
    pod = pods(folder)[name]
    assert pod["automountServiceAccountToken"] is False
    assert pod["enableServiceLinks"] is False, "SOTTOVOCE_PORT may be the address of a Service"
    assert pod["terminationGracePeriodSeconds"] >= 30
    context = pod["securityContext"]
    assert context["runAsNonRoot"] is True
    assert context["runAsUser"] == context["fsGroup"] == 10001
    assert context["seccompProfile"] == {"type": "RuntimeDefault"}
    assert not pod.keys() & {"hostNetwork", "hostPID", "hostIPC"}
    for container in (*pod["containers"], *pod.get("initContainers", [])):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert container["resources"]["requests"].keys() == {"cpu", "memory"}
        assert "memory" in container["resources"]["limits"]
        places = {mount["mountPath"] for mount in container["volumeMounts"]}
        assert {"/data", "/tmp"} <= places, "a read-only root has no other place to write to"
    assert not any("hostPath" in volume for volume in pod["volumes"])


@pytest.mark.parametrize(("folder", "name"), PODS)
def test_commands_and_variables_are_understood(folder: str, name: str) -> None:
    (container,) = pods(folder)[name]["containers"]
    arguments = build_parser().parse_args(container["args"])
    maps = {one["metadata"]["name"]: one["data"] for one in kinds(folder)["ConfigMap"]}
    variables = image_environment()
    for source in container["envFrom"]:
        variables |= maps[source["configMapRef"]["name"]]
    assert "env" not in container, "no secret is a variable"
    variables.pop("SOTTOVOCE_SETTINGS", None)  # a file that is not here
    settings = (
        RelaySettings.load({}, variables)
        if folder == "relay"
        else Settings.load({"workers": arguments.workers}, variables)
    )
    if container.get("ports"):
        assert [one["containerPort"] for one in container["ports"]] == [settings.port]
        for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
            assert container[probe]["httpGet"] == {"path": path, "port": "http"}
            assert path in openapi_document(ROUTES)["paths"]
    else:
        assert arguments.only_work


def test_services_share_their_keys_and_no_folder() -> None:
    """Each has a volume of its own, and on it the keys of the Secret, which are there before its first start."""
    (maker,) = kinds("collector")["StatefulSet"]
    assert [claim["metadata"]["name"] for claim in maker["spec"]["volumeClaimTemplates"]] == ["data"]
    pod = pods("collector")["collector"]
    (container,) = pod["containers"]
    mounts = {mount["mountPath"]: mount for mount in container["volumeMounts"]}
    assert mounts["/data"]["name"] == "data"
    volumes = {volume["name"]: volume for volume in pod["volumes"]}
    for key in ("signing.key", "sealing.keys"):
        mount = mounts[f"/data/{key}"]
        assert mount["subPath"] == key
        assert mount["readOnly"] is True
        secret = volumes[mount["name"]]["secret"]
        assert secret["secretName"] == EXAMPLE["metadata"]["name"]
        assert key in [item["key"] for item in secret["items"]]
    # Its group may read it, which is the pod's, and nobody else.
    every = [volume for one in pods("collector").values() for volume in one["volumes"]]
    secrets = [volume["secret"] for volume in every if "secret" in volume]
    assert {secret["defaultMode"] for secret in secrets} == {0o440}
    assert {item["key"] for secret in secrets for item in secret["items"]} == EXAMPLE["stringData"].keys()


def test_workers_have_no_key() -> None:
    for volume in pods("collector")["workers"]["volumes"]:
        for item in volume.get("secret", {}).get("items", []):
            assert item["key"] == "collector.toml"


def test_several_services_are_kept() -> None:
    (scaler,) = kinds("collector")["HorizontalPodAutoscaler"]
    (maker,) = kinds("collector")["StatefulSet"]
    assert "replicas" not in maker["spec"], "every change of the manifest would undo what the autoscaler did"
    assert scaler["spec"]["minReplicas"] >= 2
    assert scaler["spec"]["scaleTargetRef"]["name"] == maker["metadata"]["name"]
    guarded = [one["spec"]["selector"]["matchLabels"] for one in kinds("collector")["PodDisruptionBudget"]]
    assert {labels["app.kubernetes.io/name"] for labels in guarded} == pods("collector").keys()


def test_a_relay_is_alone_with_its_folder() -> None:
    (maker,) = kinds("relay")["StatefulSet"]
    assert maker["spec"]["replicas"] == 1
    assert maker["spec"]["volumeClaimTemplates"][0]["spec"]["accessModes"] == ["ReadWriteOncePod"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_what_stands_in_front_logs_nobody_and_passes_only_what_is_for_others(folder: str) -> None:
    (ingress,) = kinds(folder)["Ingress"]
    notes = ingress["metadata"]["annotations"]
    assert notes["traefik.ingress.kubernetes.io/router.observability.accesslogs"] == "false"
    assert notes["nginx.ingress.kubernetes.io/enable-access-log"] == "false"
    (rule,) = ingress["spec"]["rules"]
    assert [rule["host"]] == ingress["spec"]["tls"][0]["hosts"]
    prefixes = {path["path"] for path in rule["http"]["paths"] if path["pathType"] == "Prefix"}
    assert prefixes <= {"/v1", "/s", "/assets", "/embed", "/survey"}
    services = {one["metadata"]["name"] for one in kinds(folder)["Service"]}
    assert {path["backend"]["service"]["name"] for path in rule["http"]["paths"]} <= services
    assert not any(name.startswith("sottovoce") for name in services), "its variables would be taken for settings"


def test_every_page_and_its_files_can_be_reached() -> None:
    (ingress,) = kinds("collector")["Ingress"]
    listed = [(one["path"], one["pathType"]) for one in ingress["spec"]["rules"][0]["http"]["paths"]]
    for path in outward_paths():
        assert any(path == one or (kind == "Prefix" and path.startswith(f"{one}/")) for one, kind in listed), path


@pytest.mark.parametrize("folder", FOLDERS)
def test_traffic_is_forbidden_unless_it_is_named(folder: str) -> None:
    policies = {one["metadata"]["name"]: one["spec"] for one in kinds(folder)["NetworkPolicy"]}
    assert policies.pop("nothing-else") == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}
    for policy in policies.values():
        assert all(rule.get("ports") for rule in (*policy.get("ingress", []), *policy.get("egress", [])))
        assert all(rule.get("from") for rule in policy.get("ingress", []))
