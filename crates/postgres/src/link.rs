//! Connections, and the small runtime that they live in.

use std::future::Future;
use std::pin::Pin;
use std::task::Poll;
use std::time::{Duration, Instant};

use deadpool_postgres::{Manager, ManagerConfig, Object, Pool, RecyclingMethod, Runtime as PoolRuntime};
use keyplan_store::engine::Error;
use keyplan_store::engine::kit::park_on;
use tokio::runtime::{Builder, Handle, Runtime};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::failure::Failure;
use crate::settings::PostgresSettings;

/// The connections to a server, and to its replica.
#[derive(Debug)]
pub(crate) struct Link {
    // Taken out on drop only.
    runtime: Option<Runtime>,
    handle: Handle,
    pub(crate) writes: Pool,
    pub(crate) reads: Pool,
    pub(crate) replica: Option<Pool>,
    limit: Duration,
    patience: Duration,
}

impl Link {
    pub(crate) fn new(settings: &PostgresSettings) -> Result<Self, Error> {
        settings.check().map_err(|error| Error::Engine { source: error.into() })?;
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(1).thread_name("keyplan-postgres").enable_all();
        let runtime =
            builder.build().map_err(|source| Error::Io { doing: "starting the runtime", source })?;
        let pool = |config: &Config, size| pool(settings, config, size);
        Ok(Self {
            handle: runtime.handle().clone(),
            runtime: Some(runtime),
            writes: pool(&settings.config, settings.connections)?,
            reads: pool(&settings.config, settings.snapshots)?,
            replica: settings.replica.as_ref().map(|config| pool(config, settings.snapshots)).transpose()?,
            limit: settings.limit,
            patience: settings.patience,
        })
    }

    /// Waits for something that the server is asked for, as long as one call may take.
    pub(crate) fn wait<T>(&self, asked: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
        let limit = self.limit;
        self.block_on(
            async move { tokio::time::timeout(limit, asked).await.unwrap_or(Err(Failure::Late(limit))) },
        )
    }

    /// Asks for something that a server which can be reached answers soon.
    pub(crate) async fn soon<T>(
        &self,
        asked: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        let limit = self.taken_within();
        let silent = || Failure::Unreachable(format!("no answer within {limit:?}").into());
        tokio::time::timeout(limit, asked).await.unwrap_or_else(|_| Err(silent()))
    }

    /// How long after it was sent a batch is still taken by the server.
    pub(crate) fn taken_within(&self) -> Duration {
        self.patience.max(Duration::from_secs(5)).min(self.limit)
    }

    /// Waits for something that takes as long as it takes.
    ///
    /// The thread is parked, and not lent to a runtime: it may be that of a task of another one.
    pub(crate) fn block_on<T>(&self, asked: impl Future<Output = T>) -> T {
        let _entered = self.handle.enter();
        park_on(asked)
    }

    /// Has something done in the background.
    pub(crate) fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> tokio::task::JoinHandle<T> {
        self.handle.spawn(task)
    }

    /// A connection of a pool. A server that cannot be reached is tried again for a while.
    pub(crate) async fn connection(&self, pool: &Pool) -> Result<Object, Failure> {
        self.again(async || Ok(pool.get().await?)).await
    }

    /// Does something that changes nothing, again and again while the server cannot be reached.
    pub(crate) async fn again<T>(
        &self,
        mut attempt: impl AsyncFnMut() -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let begun = Instant::now();
        let mut pause = Duration::from_millis(20);
        loop {
            match attempt().await {
                Err(failure) if failure.passes() && begun.elapsed() < self.patience => {
                    tokio::time::sleep(pause).await;
                    pause = (2 * pause).min(Duration::from_millis(500));
                }
                other => return other,
            }
        }
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Waiting for its tasks is not allowed everywhere; what they still do is not needed.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn pool(settings: &PostgresSettings, config: &Config, size: usize) -> Result<Pool, Error> {
    let manager_config = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let manager = if config.get_ssl_mode() == SslMode::Disable {
        Manager::from_config(config.clone(), NoTls, manager_config)
    } else {
        let tls = settings.tls().map_err(|error| Error::Engine { source: error.into() })?;
        Manager::from_config(config.clone(), MakeRustlsConnect::new(tls), manager_config)
    };
    let pool = Pool::builder(manager)
        .max_size(size)
        .runtime(PoolRuntime::Tokio1)
        .wait_timeout(Some(settings.patience))
        .create_timeout(Some(settings.patience))
        .build();
    pool.map_err(|error| Error::Engine { source: error.into() })
}

/// Something that a server is asked for.
pub(crate) type Asked<'a> = Pin<Box<dyn Future<Output = Result<u64, tokio_postgres::Error>> + Send + 'a>>;

/// Sends all of it at once, in this order, and returns when everything is answered: with the first failure, if any.
pub(crate) async fn in_order(mut asked: Vec<Asked<'_>>) -> Result<(), Failure> {
    let mut answers: Vec<Option<Result<u64, tokio_postgres::Error>>> = Vec::new();
    answers.resize_with(asked.len(), || None);
    std::future::poll_fn(|context| {
        let mut waiting = false;
        for (asked, answer) in asked.iter_mut().zip(&mut answers) {
            if answer.is_none() {
                match asked.as_mut().poll(context) {
                    Poll::Ready(ready) => *answer = Some(ready),
                    Poll::Pending => waiting = true,
                }
            }
        }
        if waiting { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
    for answer in answers.into_iter().flatten() {
        answer?;
    }
    Ok(())
}
