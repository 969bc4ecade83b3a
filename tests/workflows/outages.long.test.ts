import { describeFaults } from './faultStories';
import { MINUTE } from './world';

describeFaults('when every method, from its first call on, is down for twenty minutes', {
  trouble: { mode: 'down', forMs: 20 * MINUTE },
  lasts: true,
});
