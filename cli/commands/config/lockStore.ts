import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { conveyorError, unfitError } from '../../../domain/errors';
import { over } from '../../../domain/excess';
import { CONFIG_LIMITS } from '../../../domain/limits';
import { replaceFileSync } from '../../../sdk/replaceFile';
import { EXIT } from '../../exit';
import type { Io } from '../../io';
import { emit } from '../../output';
import { examples, type Register } from '../command';
import { REPOSITORY, type RepositoryOptions } from './choice';

interface LockOptions extends RepositoryOptions {
  readonly host: readonly string[];
  readonly hosts?: string;
  readonly perHost?: boolean;
  readonly rotate: readonly string[];
  readonly revoke: readonly string[];
  readonly out?: string;
  readonly rootPasswordEnv: string;
  readonly dryRun?: boolean;
  readonly takeSurplus?: boolean;
}

export const lockStore: Register = (group, cli) => {
  group
    .command('lock-store')
    .description(
      'writes the users and roles of the store into etcd, which then admits only these users; hosts cannot write values',
    )
    .option('--host <name>', 'a host whose proxy gets a user; repeatable', appendHost, [])
    .option(
      '--hosts <file>',
      'all hosts, one name a line; - reads the standard input; names who has a user and is not in it',
    )
    .option('--per-host', 'give each of these hosts a role of its own, so it can write only its own acknowledgements')
    .option('--rotate <name>', 'a host whose user gets a new password; repeatable', appendHost, [])
    .option('--revoke <name>', 'a host whose user is removed; repeatable', appendHost, [])
    .option('--out <dir>', 'the folder for new passwords, one HOST.env for each host')
    .option('--root-password-env <variable>', 'the variable with the password of root', 'CONVEYOR_ETCD_ROOT_PASSWORD')
    .option('--take-surplus', 'take back the rights that hosts and other users have beyond their own')
    .option('--dry-run', 'show what it would do, change nothing')
    .option(...REPOSITORY)
    .addHelpText(
      'after',
      examples(
        'conveyor config lock-store --host web-1 --host web-2 --out /etc/conveyor/hosts --dry-run',
        'conveyor config lock-store --host web-1 --host web-2 --out /etc/conveyor/hosts',
        'conveyor config lock-store --hosts hosts.txt --per-host --out /etc/conveyor/hosts',
        'conveyor config lock-store --rotate web-1 --revoke web-2 --out /etc/conveyor/hosts',
      ),
    )
    .action(
      cli.handle<LockOptions>(async ({ io, output, options }) => {
        const { EtcdLock } = await import('../../../configerator/store/etcdRoles');
        const { findUnlisted, planLock } = await import('../../../configerator/store/lockPlan');
        const { findSurplus } = await import('../../../configerator/store/surplus');
        const { storeDoor } = await import('../../../settings/configStores');
        const { settings, registry } = (await import('./repository')).getRepositorySettings(io, options);
        const { name, etcd, login } = settings;
        if (etcd === null || login?.password === undefined)
          throw conveyorError('config-invalid', {
            file: registry.file,
            detail: `config.repositories.${name}.etcd needs a url, a user, and a passwordEnv that is set`,
          });
        const { out, dryRun = false, takeSurplus = false } = options;
        const service = { user: login.user, password: login.password };
        const wanted = { repository: name, service, ...(await readWanted(io, options)) };
        const lock = new EtcdLock({ url: etcd, ...storeDoor(settings) }, wanted.rootPassword);
        const present = await lock.present(name);
        const surplus = findSurplus(wanted, present);
        const steps = [...planLock(wanted, present), ...(takeSurplus ? surplus.map(({ step }) => step) : [])];
        const { hosts, revoked } = wanted;
        const unlisted = options.hosts === undefined ? [] : findUnlisted(name, present, [...hosts, ...revoked]);
        for (const step of dryRun ? [] : steps) {
          // Saved before etcd knows it, because an unsaved password would be lost.
          if (step.issued && out !== undefined) writePassword(out, step.issued);
          await lock.take(step, present.isLocked);
        }
        const said = {
          steps: steps.map(({ text }) => text),
          unlisted,
          surplus: takeSurplus ? [] : surplus.map(({ text }) => text),
        };
        emit(
          io,
          output,
          { repository: name, ...said, dryRun },
          { text: () => describeLockSteps(name, said).join('\n'), name: said.steps },
        );
        return said.surplus.length === 0 ? EXIT.ok : EXIT.error;
      }),
    );
};

/** Reports the changes and the remaining decisions. */
function describeLockSteps(
  repository: string,
  { steps, unlisted, surplus }: Readonly<Record<'steps' | 'unlisted' | 'surplus', readonly string[]>>,
): readonly string[] {
  return [
    ...(steps.length > 0 ? steps : surplus.length > 0 ? [] : [`the store of ${repository} is already locked`]),
    ...unlisted.map((host) => `${host} has a user and is not in the list; --revoke ${host} removes it`),
    ...surplus.map((text) => `${text}; --take-surplus takes that back`),
  ];
}

/** The validated options and hosts. @throws ConveyorError `usage`, `over-limit` */
async function readWanted(io: Io, options: LockOptions) {
  const { refuseHosts } = await import('../../../configerator/store/lockPlan');
  const {
    rotate: rotated,
    revoke: revoked,
    out,
    rootPasswordEnv,
    perHost: isPerHost = false,
    dryRun = false,
  } = options;
  const listed = options.hosts === undefined ? [] : await readHosts(io, options.hosts);
  const hosts = [...new Set([...options.host, ...listed])];
  refuseHosts([...hosts, ...rotated, ...revoked]);
  const excess = over(CONFIG_LIMITS.lockedHosts, hosts.length);
  if (excess) throw unfitError(excess);
  const both = revoked.find((one) => hosts.includes(one) || rotated.includes(one));
  if (both !== undefined)
    throw usageError(
      `${both} is to have a user, and to have none`,
      'name it with one of --host, --hosts, --rotate and --revoke',
    );
  if (isPerHost && hosts.length === 0)
    throw usageError('--per-host names no host', 'name them with --host NAME or --hosts FILE');
  const rootPassword = io.env[rootPasswordEnv];
  if (!rootPassword)
    throw usageError(`${rootPasswordEnv} is not set`, 'openssl rand -hex 24 makes a password for root');
  if (hosts.length + rotated.length > 0 && out === undefined && !dryRun)
    throw usageError('--out is missing', 'name the folder that gets the new passwords');
  return { hosts, isPerHost, rotated, revoked, rootPassword };
}

/** One name a line. Empty lines and comments after # are ignored. */
async function readHosts(io: Pick<Io, 'input'>, file: string): Promise<string[]> {
  const text = file === '-' ? await io.input() : readList(file);
  return text.split('\n').flatMap((line) => line.replace(/#.*/, '').trim() || []);
}

function readList(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw usageError(`--hosts ${file} cannot be read: ${(error as Error).message}`, 'one name of a host a line');
  }
}

function writePassword(folder: string, { host, password }: { readonly host: string; readonly password: string }): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  replaceFileSync(join(folder, `${host}.env`), `CONVEYOR_ETCD_PASSWORD=${password}\n`, { mode: 0o600 });
}

const appendHost = (value: string, before: readonly string[]): string[] => [...before, value];

const usageError = (text: string, hint: string) => conveyorError('usage', { text, hint });
