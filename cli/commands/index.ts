import { apply } from './apply';
import type { Register } from './command';
import { demo } from './demo';
import { dev } from './dev';
import { doctor } from './doctor';
import { history } from './history';
import { init } from './init';
import { lint } from './lint';
import { list } from './list';
import { plan } from './plan';
import { processes } from './processes';
import { release } from './release';
import { status } from './status';
import { verbs } from './verbs';
import { watch } from './watch';

/** In the order of the help: from the first pipeline to operating it, then the processes. */
export const COMMANDS: readonly Register[] = [
  init,
  lint,
  plan,
  apply,
  release,
  list,
  status,
  watch,
  verbs,
  history,
  processes,
  dev,
  demo,
  doctor,
];
