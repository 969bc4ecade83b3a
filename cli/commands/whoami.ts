import { whoAmI, type Me } from '../../client/http/client';
import { doorOf, httpOf } from '../door';
import { EXIT } from '../exit';
import { actorOf } from '../io';
import { emit } from '../output';
import { examples, type Call, type Register } from './command';

/** As whom Conveyor takes whoever types, and who says so. */
interface Self extends Me {
  /** Null where commands go to Temporal itself. */
  readonly server: string | null;
}

export const whoami: Register = (program, cli) => {
  program
    .command('whoami')
    .description('as whom your commands are taken, by which server, and until when')
    .addHelpText('after', examples('conveyor whoami', 'conveyor whoami -o json'))
    .action(
      cli.handle<object>(async (call) => {
        const self = await selfOf(call);
        emit(call.io, call.output, self, { text: () => textOf(self), name: [self.principal] });
        return EXIT.ok;
      }),
    );
};

async function selfOf({ io, connect }: Call<object>): Promise<Self> {
  const door = doorOf(io.env, connect);
  if (door.kind === 'server') return { server: door.url, ...(await whoAmI(httpOf(io, door))) };
  return { server: null, principal: actorOf(io, connect), groups: [], door: 'temporal', expiresAt: null };
}

function textOf({ server, principal, groups, door, expiresAt }: Self): string {
  if (server === null) return `${principal}, as you say yourself: commands go to Temporal, which asks nobody`;
  const lines = [
    `${principal} at ${server}, by ${door}`,
    ...(groups.length === 0 ? [] : [`member of ${groups.join(', ')}`]),
    ...(expiresAt === null ? [] : [`until ${expiresAt}`]),
  ];
  return lines.join('\n');
}
