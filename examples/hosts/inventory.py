#!/usr/bin/env python3
"""An inventory program: prints groups, hosts and variables in the JSON of Ansible. Ask your own database here."""
import json

HOSTS = {"web-1": ("10.0.1.11", "eu"), "web-2": ("10.0.1.12", "eu"), "web-3": ("10.0.2.11", "us")}

print(
    json.dumps(
        {
            "_meta": {
                "hostvars": {
                    name: {"ansible_host": address, "label_region": region} for name, (address, region) in HOSTS.items()
                }
            },
            "all": {"children": ["web"]},
            "web": {"hosts": sorted(HOSTS), "vars": {"conveyor_split": "region", "http_port": 8080}},
        }
    )
)
