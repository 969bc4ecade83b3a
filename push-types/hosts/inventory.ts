import type { GroupFields, InventoryFile } from './settings';

/** The hosts of an inventory file with all that is known about each. Pure. */

/** One host of a unit: a place for one task. */
export interface Host {
  readonly name: string;
  readonly unit: string;
  readonly address: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly fingerprint: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly vars: Readonly<Record<string, string>>;
}

/** The units and their hosts, in a stable order. */
export interface Inventory {
  readonly units: ReadonlyMap<string, readonly Host[]>;
  /** The labels that all hosts of a unit share. */
  readonly labels: ReadonlyMap<string, Readonly<Record<string, string>>>;
}

/**
 * Makes the units: one for each group, or one for each value of the label by which a group is split.
 * @throws Error if a host is in two units, or two units have one name
 */
export function buildInventory(file: InventoryFile, groups: Readonly<Record<string, GroupFields>>): Inventory {
  const units = new Map<string, Host[]>();
  const placed = new Map<string, string>();
  const owners = new Map<string, string>();
  for (const [group, fields] of Object.entries(groups))
    for (const host of listHosts(file, group, fields)) {
      const other = placed.get(host.name);
      if (other !== undefined)
        throw new Error(`the host ${host.name} is in ${other} and in ${host.unit}: a host runs one task`);
      const owner = owners.get(host.unit) ?? group;
      if (owner !== group) throw new Error(`the groups ${owner} and ${group} both make a unit ${host.unit}`);
      placed.set(host.name, host.unit);
      owners.set(host.unit, group);
      units.set(host.unit, [...(units.get(host.unit) ?? []), host]);
    }
  const sorted = [...units].map(
    ([unit, hosts]) => [unit, hosts.toSorted((a, b) => compareHostNames(a.name, b.name))] as const,
  );
  return { units: new Map(sorted), labels: new Map(sorted.map(([unit, hosts]) => [unit, shareLabels(hosts)])) };
}

/** Replaces `{name}` by the variables of a host; `{host}` and `{address}` are always there. @throws Error for an unknown variable */
export function fillVariables(text: string, { name, address, vars }: Pick<Host, 'name' | 'address' | 'vars'>): string {
  return text.replace(/\{(\w+)\}/g, (_, key: string) => {
    const value = { ...vars, host: name, address }[key];
    if (value === undefined) throw new Error(`${name} has no variable ${key}, which ${text} needs`);
    return value;
  });
}

/** Fills a text for hosts by their names, as the inventory of now describes them. The filler throws for a host that has left, and for an unknown variable. */
export function createFiller(text: string, readInventory: () => Inventory): (host: string) => string {
  let [known, hosts] = [undefined as Inventory | undefined, new Map<string, Host>()];
  return (name) => {
    const inventory = readInventory();
    if (inventory !== known) hosts = new Map([...inventory.units.values()].flat().map((host) => [host.name, host]));
    known = inventory;
    const host = hosts.get(name);
    if (host === undefined) throw new Error(`there is no host ${name} in the inventory`);
    return fillVariables(text, host);
  };
}

function listHosts(file: InventoryFile, group: string, { split, vars, labels, hosts }: GroupFields): Host[] {
  return Object.entries(hosts).map(([name, own]) => {
    const all = { group, ...labels, ...own?.labels };
    const value = split === undefined ? undefined : all[split as keyof typeof all];
    if (split !== undefined && value === undefined)
      throw new Error(`the host ${name} has no label ${split}, by which ${group} is split`);
    return {
      ...{ name, unit: value === undefined ? group : `${group}-${value}`, address: own?.address ?? name },
      ...{ port: own?.port ?? file.ssh.port, user: own?.user ?? file.ssh.user, fingerprint: own?.fingerprint },
      ...{ labels: all, vars: { ...file.vars, ...vars, ...own?.vars } },
    };
  });
}

/** `web-2` before `web-10`. */
const compareHostNames = (one: string, other: string): number => one.localeCompare(other, 'en', { numeric: true });

function shareLabels(hosts: readonly Host[]): Record<string, string> {
  const [first, ...others] = hosts;
  const entries = Object.entries(first?.labels ?? {});
  return Object.fromEntries(entries.filter(([key, value]) => others.every(({ labels }) => labels[key] === value)));
}
