import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { conveyorError } from '../../../domain/errors';
import { writePrivate } from '../../../platform/privateFile';
import { EXIT } from '../../exit';
import { emit } from '../../output';
import { examples, type Register } from '../command';
import { REPOSITORY, type RepositoryOptions } from './choice';

interface LockOptions extends RepositoryOptions {
  readonly host: readonly string[];
  readonly rotate: readonly string[];
  readonly revoke: readonly string[];
  readonly out?: string;
  readonly rootPasswordEnv: string;
  readonly dryRun?: boolean;
}

export const lockStore: Register = (group, cli) => {
  group
    .command('lock-store')
    .description(
      'writes the users and roles of the store into etcd, and lets in nobody else; hosts cannot write values',
    )
    .option('--host <name>', 'a host whose proxy gets a user; several times', appendHost, [])
    .option('--rotate <name>', 'a host whose user gets another password; several times', appendHost, [])
    .option('--revoke <name>', 'a host whose user is removed; several times', appendHost, [])
    .option('--out <dir>', 'where each new password of a host is written, as HOST.env')
    .option('--root-password-env <variable>', 'the variable with the password of root', 'CONVEYOR_ETCD_ROOT_PASSWORD')
    .option('--dry-run', 'only shows what it would do')
    .option(...REPOSITORY)
    .addHelpText(
      'after',
      examples(
        'conveyor config lock-store --host web-1 --host web-2 --out /etc/conveyor/hosts --dry-run',
        'conveyor config lock-store --host web-1 --host web-2 --out /etc/conveyor/hosts',
        'conveyor config lock-store --rotate web-1 --revoke web-2 --out /etc/conveyor/hosts',
      ),
    )
    .action(
      cli.handle<LockOptions>(async ({ io, output, options }) => {
        const { EtcdLock, planLock, refuseHosts } = await import('../../../config/store/etcdRoles');
        const { storeDoor } = await import('../../../platform/configStores');
        const { settings, registry } = (await import('./repository')).settingsOf(io, options);
        const { name, etcd, login } = settings;
        if (etcd === null || login?.password === undefined)
          throw conveyorError('config-invalid', {
            file: registry.file,
            detail: `config.repositories.${name}.etcd needs a url, a user, and a passwordEnv that is set`,
          });
        const { host: hosts, rotate: rotated, revoke: revoked, out, rootPasswordEnv, dryRun = false } = options;
        refuseHosts([...hosts, ...rotated, ...revoked]);
        const both = revoked.find((one) => hosts.includes(one) || rotated.includes(one));
        if (both !== undefined)
          throw usageError(
            `${both} is to have a user, and to have none`,
            'name it with one of --host, --rotate and --revoke',
          );
        const rootPassword = io.env[rootPasswordEnv];
        if (!rootPassword)
          throw usageError(`${rootPasswordEnv} is not set`, 'openssl rand -hex 24 makes a password for root');
        if (hosts.length + rotated.length > 0 && out === undefined && !dryRun)
          throw usageError('--out is missing', 'name the folder that gets the new passwords');
        const lock = new EtcdLock({ url: etcd, ...storeDoor(settings) }, rootPassword);
        const present = await lock.present();
        const service = { user: login.user, password: login.password };
        const steps = planLock({ repository: name, service, hosts, rotated, revoked, rootPassword }, present);
        for (const step of dryRun ? [] : steps) {
          // Before etcd knows it: a password that was not saved is of no use.
          if (step.issued && out !== undefined) writePassword(out, step.issued);
          await lock.take(step, present.isLocked);
        }
        const said = steps.map(({ text }) => text);
        emit(
          io,
          output,
          { repository: name, steps: said, dryRun },
          {
            text: () => (said.length === 0 ? `the store of ${name} is locked already` : said.join('\n')),
            name: said,
          },
        );
        return EXIT.ok;
      }),
    );
};

function writePassword(folder: string, { host, password }: { readonly host: string; readonly password: string }): void {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writePrivate(join(folder, `${host}.env`), `CONVEYOR_ETCD_PASSWORD=${password}\n`);
}

const appendHost = (value: string, before: readonly string[]): string[] => [...before, value];

const usageError = (text: string, hint: string) => conveyorError('usage', { text, hint });
