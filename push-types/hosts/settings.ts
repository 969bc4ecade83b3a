import { z } from 'zod';
import { HOSTS_LIMITS } from '../../sdk';
import { durationField } from '../durationField';

/** The file of `conveyor push-type hosts --inventory FILE` (docs/reference/hosts.md). */

const seconds = (text: string) => durationField().prefault(text);

const name = z
  .string()
  .max(HOSTS_LIMITS.name.max)
  .regex(/^[a-zA-Z0-9][a-zA-Z0-9._-]*$/, 'expected letters, digits, dots, dashes and underscores');
/** ssh takes a word that begins with a dash for an option. */
const address = z
  .string()
  .max(HOSTS_LIMITS.address.max)
  .regex(/^[a-zA-Z0-9:][a-zA-Z0-9.:_-]*$/, 'expected a host name or an address');
const programArguments = z.array(z.string().min(1)).min(1).max(HOSTS_LIMITS.arguments.max);
const variables = z.record(
  z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/),
  z.union([z.string(), z.number(), z.boolean()]).transform(String),
);
const labels = z.record(z.string().min(1), z.string());
const absolutePath = z.string().regex(/^\/[^\0\n\r|]+$/, 'expected an absolute path');
/** No `..`, no absolute path, and no name that the script takes for an option. */
const innerPath = z
  .string()
  .regex(/^(?!-)(?!.*(^|\/)\.\.?(\/|$))[^/\0\n\r][^\0\n\r]*$/, 'expected a relative path without ..');

const sshFields = z.strictObject({
  /** `ssh2`: a library; `ssh`: the program of this machine, with its configuration, jump hosts and hardware keys. */
  transport: z.enum(['ssh2', 'ssh']).default('ssh2'),
  user: name.optional(),
  port: z.number().int().min(1).max(65535).default(22),
  identity: z.string().optional(),
  knownHosts: z.string().default('~/.ssh/known_hosts'),
  /** A configuration file for `ssh`. */
  config: z.string().optional(),
  connectTimeout: seconds('10s'),
  /** Channels of one connection; sshd permits ten (`MaxSessions`). */
  sessions: z.number().int().min(1).max(HOSTS_LIMITS.sessions.max).default(4),
  /** Connections that are opened together; sshd of a jump host permits ten (`MaxStartups`). */
  connectsAtOnce: z.number().int().min(1).max(HOSTS_LIMITS.connectsAtOnce.max).default(8),
});

const appFields = z.strictObject({
  /** The folder of the application on each host. */
  root: absolutePath,
  /** The systemd service. */
  service: z.string().regex(/^[a-zA-Z0-9@{][a-zA-Z0-9:_.@{}-]*$/, 'expected the name of a systemd unit'),
  sudo: z.boolean().default(true),
  /** How many releases stay on a host. */
  keep: z.number().int().min(2).max(HOSTS_LIMITS.keep.max).default(5),
  /** Paths that every release shares: links into `shared/`. */
  shared: z.array(innerPath).max(HOSTS_LIMITS.shared.max).default([]),
  health: z
    .strictObject({
      /** Asked on the host itself. Its answer has to be the version, or JSON with the field `version`. */
      url: z.string().regex(/^https?:\/\/[^\s"'\\]+$/, 'expected an http URL'),
      settle: seconds('3s'),
      timeout: seconds('30s'),
    })
    .optional(),
  /** The place of the application's own metrics, for Prometheus. */
  metrics: z
    .strictObject({
      port: z.union([z.number(), z.string()]).transform(String),
      path: z.string().startsWith('/').default('/metrics'),
    })
    .optional(),
  drain: seconds('30s'),
});

const hostAmount = z.union([z.number().int().positive(), z.string().regex(/^\d{1,2}%$/)]);

const groupFields = z.strictObject({
  /** Splits the group into a unit for each value of this label. */
  split: z.string().optional(),
  vars: variables.default({}),
  labels: labels.default({}),
  hosts: z
    .record(
      name,
      z
        .strictObject({
          address: address.optional(),
          port: z.number().int().min(1).max(65535).optional(),
          user: name.optional(),
          fingerprint: z
            .string()
            .regex(/^SHA256:[A-Za-z0-9+/]{43}$/, 'expected SHA256:…, as ssh-keygen -l prints it')
            .optional(),
          vars: variables.default({}),
          labels: labels.default({}),
        })
        .nullable(),
    )
    .refine((hosts) => Object.keys(hosts).length <= HOSTS_LIMITS.hosts.max, `more than ${HOSTS_LIMITS.hosts.max} hosts`)
    .default({}),
});

export const inventorySchema = z
  .strictObject({
    /** The name of the lock: deploys of one service take turns. */
    service: name,
    app: appFields,
    ssh: sshFields.prefault({}),
    /** Hosts of a unit that change together. */
    atOnce: z.number().int().min(1).max(HOSTS_LIMITS.atOnce.max).default(1),
    /** Hosts of a unit that may be out of service, for any reason; at least `atOnce`. */
    mostOut: hostAmount.default('10%'),
    packages: z.strictObject({
      /** A folder, or an http URL, with one archive a version: `{version}` is replaced. */
      from: z
        .string()
        .includes('{version}', { message: 'expected {version} in it, for example ./packages/{version}.tar.gz' }),
      timeout: seconds('5m'),
    }),
    balancer: z
      .union([
        z.strictObject({
          /** Runtime sockets of all haproxy processes in front of the hosts: a path, or host:port. */
          haproxy: z.array(z.string().min(1)).min(1).max(HOSTS_LIMITS.balancers.max),
          backend: z.string().regex(/^[A-Za-z0-9_.:-]+$/),
          server: z
            .string()
            .regex(/^[A-Za-z0-9_.:{}-]+$/)
            .default('{host}'),
        }),
        z.strictObject({ hook: programArguments, timeout: seconds('60s') }),
      ])
      .optional(),
    vars: variables.default({}),
    groups: z.record(name, groupFields).default({}),
    /** A program that prints the inventory as Ansible's do; its groups come in addition to `groups`. */
    program: z
      .strictObject({ run: programArguments, timeout: seconds('10s'), groups: z.array(name).min(1) })
      .optional(),
    interval: seconds('2s'),
    refresh: seconds('60s'),
  })
  .refine(({ groups, program }) => program !== undefined || Object.keys(groups).length > 0, {
    path: ['groups'],
    message: 'expected a group of hosts, or a program that prints them',
  });

/** The file with all defaults. */
export type InventoryFile = z.output<typeof inventorySchema>;
export type GroupFields = z.output<typeof groupFields>;
export type SshSettings = InventoryFile['ssh'];
export { address as addressSchema, name as hostNameSchema };
