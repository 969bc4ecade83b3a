import { actions } from './actions';
import { apply } from './apply';
import { artifact } from './artifact';
import { audit } from './audit';
import { can } from './can';
import type { Register } from './command';
import { completion } from './completion';
import { conform } from './conform';
import { demo } from './demo';
import { dev } from './dev';
import { doctor } from './doctor';
import { health } from './health';
import { history } from './history';
import { init } from './init';
import { lint } from './lint';
import { list } from './list';
import { login } from './login';
import { logout } from './logout';
import { logs } from './logs';
import { pipeline } from './pipeline';
import { plan } from './plan';
import { processes } from './processes';
import { push } from './push';
import { release } from './release';
import { rerun } from './rerun';
import { simulate } from './simulate';
import { status } from './status';
import { verbs } from './verbs';
import { watch } from './watch';
import { whoami } from './whoami';

/** In the order of the help: from the first pipeline to operating it, then the processes. */
export const COMMANDS: readonly { readonly heading: string; readonly commands: readonly Register[] }[] = [
  { heading: 'Pipelines:', commands: [init, lint, plan, apply, pipeline] },
  { heading: 'Releases:', commands: [release, artifact, rerun, list, status, watch, logs, history, health] },
  { heading: 'Stepping in (each with --reason):', commands: [verbs, actions, push] },
  { heading: 'Who you are, and what you may do:', commands: [login, logout, whoami, can, audit] },
  { heading: 'Processes:', commands: [processes, dev, demo, simulate, conform, doctor, completion] },
];
