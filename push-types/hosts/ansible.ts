import { z } from 'zod';
import { HOSTS_LIMITS } from '../../sdk';
import { addressSchema, hostNameSchema, type GroupFields } from './settings';

/** The JSON that programs print for `ansible-inventory`: groups with hosts, variables and children, and `_meta.hostvars`. Pure. */

const values = z.record(z.string(), z.unknown());
const ansibleGroup = z.object({
  hosts: z.array(hostNameSchema).default([]),
  vars: values.default({}),
  children: z.array(z.string()).default([]),
});
const ansibleSchema = z
  .object({ _meta: z.object({ hostvars: z.record(z.string(), values).default({}) }).optional() })
  .catchall(
    // A group may be a list of its hosts.
    z.union([ansibleGroup, z.array(hostNameSchema).transform((hosts) => ({ hosts, vars: {}, children: [] }))]),
  );
type AnsibleGroup = z.output<typeof ansibleGroup>;

/**
 * The named groups of what a program printed, each with the hosts of its children. `label_x` among the variables of a host or group becomes the label x,
 * `ansible_host`, `ansible_port` and `ansible_user` its connection; all other plain values become variables.
 * @throws Error that names the place
 */
export function parseAnsible(output: string, groups: readonly string[]): Record<string, GroupFields> {
  const { _meta, ...all } = parseJsonStrictly(output);
  const known = all as Readonly<Record<string, AnsibleGroup>>;
  const hostvars = _meta?.hostvars ?? {};
  return Object.fromEntries(
    groups.map((group) => {
      if (!Object.hasOwn(known, group))
        throw new Error(`it printed no group ${group}; there are ${Object.keys(known).join(', ') || 'none'}`);
      const own = known[group]?.vars ?? {};
      const hosts = collectHosts(known, group, []);
      if (hosts.size > HOSTS_LIMITS.hosts.max)
        throw new Error(`${group} has ${hosts.size} hosts, more than ${HOSTS_LIMITS.hosts.max}`);
      const fields = {
        ...{ split: undefined, vars: pickVariables(own), labels: pickLabels(own) },
        hosts: Object.fromEntries(
          [...hosts].map(([host, inherited]) => [host, toHost(host, { ...inherited, ...hostvars[host] })]),
        ),
      };
      const split = own['conveyor_split'];
      return [group, { ...fields, split: typeof split === 'string' ? split : undefined }];
    }),
  );
}

function parseJsonStrictly(output: string): z.output<typeof ansibleSchema> {
  let json: unknown;
  try {
    json = JSON.parse(output);
  } catch {
    throw new Error('it printed no JSON');
  }
  const parsed = ansibleSchema.safeParse(json);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new Error(
    `it printed an inventory with a mistake at ${issue?.path.map(String).join('.') || 'its root'}: ${issue?.message}`,
  );
}

/** The hosts of a group and its children, with the variables of the groups between. */
function collectHosts(
  groups: Readonly<Record<string, AnsibleGroup>>,
  name: string,
  above: readonly string[],
): Map<string, Record<string, unknown>> {
  if (above.includes(name)) throw new Error(`the group ${name} is its own child`);
  const group = Object.hasOwn(groups, name) ? groups[name] : undefined;
  if (group === undefined) throw new Error(`it names the group ${name} as a child, and printed none`);
  const found = new Map<string, Record<string, unknown>>();
  for (const child of group.children)
    for (const [host, vars] of collectHosts(groups, child, [...above, name]))
      found.set(host, { ...group.vars, ...vars });
  for (const host of group.hosts) found.set(host, { ...group.vars, ...found.get(host) });
  return found;
}

const CONNECTION = z.object({
  ansible_host: addressSchema.optional(),
  ansible_port: z.coerce.number().int().min(1).max(65535).optional(),
  ansible_user: hostNameSchema.optional(),
  conveyor_fingerprint: z
    .string()
    .regex(/^SHA256:/)
    .optional(),
});

function toHost(host: string, vars: Readonly<Record<string, unknown>>): GroupFields['hosts'][string] {
  const parsed = CONNECTION.safeParse(vars);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Error(`it printed a mistake for ${host}, at ${issue?.path.map(String).join('.')}: ${issue?.message}`);
  }
  const { ansible_host, ansible_port, ansible_user, conveyor_fingerprint } = parsed.data;
  return {
    ...{ address: ansible_host, port: ansible_port, user: ansible_user, fingerprint: conveyor_fingerprint },
    ...{ vars: pickVariables(vars), labels: pickLabels(vars) },
  };
}

const isPlainValue = (value: unknown): value is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof value);

const pickVariables = (vars: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(vars).flatMap(([key, value]) => (isPlainValue(value) ? [[key, String(value)]] : [])),
  );

const pickLabels = (vars: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(pickVariables(vars)).flatMap(([key, value]) =>
      key.startsWith('label_') ? [[key.slice('label_'.length), value]] : [],
    ),
  );
