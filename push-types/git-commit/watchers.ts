import { z } from 'zod';
import { GIT_COMMIT_LIMITS } from '../../sdk';
import { explainAnswer, watchArgocd } from './argocd';
import { watchFlux } from './flux';
import { httpGet } from './httpGet';
import { runBounded } from './runBounded';
import type { WaitSettings } from './settings';
import { fillPlaces } from './units';
import { checkRevisions, observe, type Watcher } from './watcher';

/** The watcher of an environment. */
export function createWatcher(settings: WaitSettings): Watcher {
  if ('argocd' in settings) return watchArgocd(settings);
  if ('flux' in settings) return watchFlux(settings);
  return 'program' in settings ? watchByProgram(settings) : watchVersion(settings);
}

/** The answer of a program, on its standard output. */
const programSchema = z.object({
  state: z.enum(['live', 'waiting', 'failed']),
  /** The commit that it speaks of. */
  revision: z.string().optional(),
  /** Or the version. */
  version: z.string().optional(),
  reason: z.string().default(''),
});

/** A program gets the change as JSON on its standard input. It has to say of which revision or version it speaks; otherwise it is not believed. */
function watchByProgram(settings: Extract<WaitSettings, { program: string[] }>): Watcher {
  return async (place, check) => {
    const [program = '', ...args] = settings.program.map((word) => fillPlaces(word, place, place.cluster));
    const { PATH, HOME } = process.env;
    try {
      const ran = await runBounded(program, args, {
        ...{ input: JSON.stringify(place), timeoutMs: settings.answer, mostBytes: GIT_COMMIT_LIMITS.answer.max },
        env: { ...(PATH !== undefined && { PATH }), ...(HOME !== undefined && { HOME }) },
      });
      if (ran.isCut) throw new Error('it took too long, or printed too much');
      if (ran.code !== 0) throw new Error(`it ended with the code ${ran.code}: ${ran.stderr}`);
      const answer = programSchema.parse(JSON.parse(ran.output.toString('utf8')));
      if (answer.state === 'waiting') return observe('waiting', answer.reason || `${program} says that it is not live`);
      const isVersion = [place.version, place.value].includes(answer.version ?? '');
      const { isThere, reason } = isVersion
        ? { isThere: true, reason: '' }
        : await checkRevisions([answer.revision ?? ''], check);
      if (!isThere) return observe('waiting', `${program} says ${answer.state}, but of another version: ${reason}`);
      return observe(answer.state, answer.reason || `${program} says ${answer.state}`);
    } catch (error) {
      return observe('silent', `${program} says nothing: ${explainAnswer(error)}`);
    }
  };
}

const versionSchema = z.object({ version: z.string() });

/** An address of the application that answers with its version, as a text or as JSON with the field `version`. It can say that a version is live, and not that it failed. */
function watchVersion(settings: Extract<WaitSettings, { url: string }>): Watcher {
  return async (place) => {
    const url = fillPlaces(settings.url, place, place.cluster);
    try {
      const text = (await httpGet(url, { ...settings, timeoutMs: settings.answer })).trim();
      const version = text.startsWith('{') ? versionSchema.parse(JSON.parse(text)).version : text;
      if ([place.version, place.value].includes(version)) return observe('live', `${url} answers with ${version}`);
      return observe('waiting', `${url} answers with ${version.slice(0, 100)}`);
    } catch (error) {
      return observe('silent', `${url} says nothing: ${explainAnswer(error)}`);
    }
  };
}
