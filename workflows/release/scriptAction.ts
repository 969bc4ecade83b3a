import { workflowInfo } from '@temporalio/workflow';
import { combineVersions } from '../../domain/artifact';
import { resolveInputs } from '../../domain/release/graph';
import { releaseId } from '../../domain/ids';
import { logBytes } from '../../domain/scriptLog';
import type { ActionSpec } from '../../domain/spec/pipeline';
import { scriptWatchers } from '../proxies';
import { runAttempts } from './attempts';
import type { ReleaseSession } from './session';

type ScriptAction = Extract<ActionSpec, { type: 'custom-script' }>;

/** Runs a script on a worker. Each attempt has its own run id. */
export function runScriptAction(run: ReleaseSession, name: string, action: ScriptAction): Promise<void> {
  const { spec, number, artifacts, settings } = run.input;
  const inputs = resolveInputs(
    spec.actions,
    name,
    artifacts,
    (producer) => run.record.actions[producer]?.outputs ?? [],
  );
  const facts = {
    pipeline: spec.pipeline,
    release: releaseId(spec.pipeline, number),
    ...(inputs.length > 0 ? { version: combineVersions(inputs) } : {}),
  };
  return runAttempts(run, name, action, (attempt, summary) =>
    scriptWatchers(settings).runScript.executeWithOptions({ summary }, [
      {
        runId: `${workflowInfo().workflowId}/${name}/${attempt}`,
        action: name,
        ...{ command: action.with.command, env: action.with.env, facts },
        timeoutMs: action.timeout ?? null,
        heartbeatTimeoutMs: settings.heartbeatTimeoutMs,
        logBytes: logBytes((run.scripts += 1)),
        ...run.behalf,
      },
    ]),
  );
}
