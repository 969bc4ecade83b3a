import { serveActionService } from '../../sdk';

/** An action service: `{ type: custom, with: { service: announce, channel: "#releases" } }` says what was deployed. */
const said = new Map<string, string>();

export const announce = serveActionService('announce', {
  startRun: ({ runId, pipeline, inputs, with: { channel } }) => {
    const versions = inputs.map(({ name, version }) => `${name}@${version}`).join(', ');
    said.set(runId, `${pipeline} ships ${versions} (${String(channel)})`); // the same run id says it once
    return { runId };
  },
  getRunProgress: ({ runId }) => ({ state: 'succeeded', message: said.get(runId) ?? 'nothing was said' }),
  cancelRun: () => ({}),
});
